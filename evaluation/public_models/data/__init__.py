"""Data of the public models: real data if they are there, and the form in which each library wants them."""
