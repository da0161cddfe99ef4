"""How well `gnomon watch` observes scripts that other people wrote: ten and more public scripts, and planted mistakes.

The scripts are not part of this repository: every run takes a folder with checkouts of pytorch/examples, nanoGPT,
makemore and minGPT, and runs the files as they are. Modules on the path (`stubs`) replace what cannot be downloaded.
"""
