"""Files are written completely or not at all."""

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

import gnomon
from gnomon.core.machine.files import append_text, write_file

SMALL, LARGE = "the previous file", "x" * 100_000


def test_a_full_disk_leaves_the_previous_file_and_nothing_else(tmp_path, full_disk):
    file = tmp_path / "report.html"
    file.write_text(SMALL)
    with pytest.raises(gnomon.WriteError, match=r"^cannot write .*report.html: File too large. The prev"):
        write_file(file, LARGE)
    assert file.read_text() == SMALL and list(tmp_path.iterdir()) == [file]


def test_the_error_says_path_reason_and_what_to_do(tmp_path, monkeypatch):
    def no_space(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError) as error:  # the builtin, too
        write_file(tmp_path / "report.html", SMALL)
    assert str(error.value) == (
        f"cannot write {tmp_path}/report.html: No space left on device. Free some disk space, or pass another path."
    )
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_the_previous_file(tmp_path, monkeypatch):
    def interrupted(descriptor):
        raise KeyboardInterrupt

    file = tmp_path / "report.html"
    file.write_text(SMALL)
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file(file, LARGE)
    assert file.read_text() == SMALL and list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("place", ["folder", "file/report.html"])
def test_a_path_that_cannot_be_a_file_is_answered_in_a_sentence(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text(SMALL)
    with pytest.raises(gnomon.WriteError, match=r"directory|exists"):
        write_file(tmp_path / place, LARGE)


def test_a_link_stays_and_its_target_is_written(tmp_path):
    target, link = tmp_path / "there" / "report.html", tmp_path / "link.html"
    target.parent.mkdir()
    target.write_text(SMALL)
    link.symlink_to(target)
    assert write_file(link, LARGE) == link
    assert link.is_symlink() and target.read_text() == LARGE


def test_permissions_are_kept_and_new_files_have_the_usual_ones(tmp_path):
    old, new, usual = (tmp_path / name for name in ("old", "new", "usual"))
    old.write_text(SMALL)
    old.chmod(0o640)
    usual.write_text(SMALL)
    for file in (old, new):
        write_file(file, LARGE)
    assert stat.S_IMODE(old.stat().st_mode) == 0o640 and new.stat().st_mode == usual.stat().st_mode


def test_devices_and_pipes_are_written_in_place(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_file(pipe, SMALL)
    assert os.read(reader, 100).decode() == SMALL and stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)
    assert write_file("/dev/null", LARGE) and stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_line_that_does_not_fit_is_taken_back(tmp_path, full_disk):
    log = tmp_path / "log.csv"
    append_text(log, "step,loss\n")
    with pytest.raises(gnomon.WriteError, match="Its previous content is unchanged"):
        append_text(log, LARGE)
    append_text(log, "1,0.5\n")
    assert log.read_text() == "step,loss\n1,0.5\n"


def test_two_writers_of_one_file_leave_one_complete_file_and_readers_never_see_a_part(tmp_path):
    path, contents = tmp_path / "report.html", [letter * 200_000 for letter in "ab"]
    write_file(path, contents[0])
    seen = set()
    with ThreadPoolExecutor(max_workers=3) as pool:
        writers = [pool.submit(lambda text: [write_file(path, text) for _ in range(20)], text) for text in contents]
        while not all(writer.done() for writer in writers):
            seen.add(path.read_text())
        for writer in writers:
            writer.result()
    assert seen <= set(contents) and path.read_text() in contents
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
