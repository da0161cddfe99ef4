"""Handles the signal to terminate, so that `gnomon watch` can write its report, even if the script is blocked.

Python runs a signal handler only when the main thread returns to Python code. A process of `torchrun` that waits for
another process does not return. Without gnomon the signal would end it immediately. A thread therefore also receives
the signal.

>>> with TerminationWatch(print).active():
...     signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
False
>>> signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
True
"""

import ctypes
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

__all__ = ["ScriptTerminated", "TerminationWatch"]

SECONDS_TO_UNWIND = 3.0
"""Seconds after the signal in which a script may end by itself; torchrun waits 30 s."""


class ScriptTerminated(BaseException):
    """Exception raised in the script on a termination signal, so that the report is still written."""


@dataclass(slots=True, eq=False)
class TerminationWatch:
    """Raises `ScriptTerminated` in the script on a termination signal; calls ``write_report`` from a thread if the
    script is still blocked `SECONDS_TO_UNWIND` seconds later, and then ends the process by the signal.
    """

    write_report: Callable[[], object]
    unwound: threading.Event = field(default_factory=threading.Event)
    process: int = field(default_factory=os.getpid)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Context manager that watches for the signal, unless the script has its own handler."""
        usual = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        if not usual or threading.current_thread() is not threading.main_thread():
            yield
            return
        receiver, sender = socket.socketpair()
        sender.setblocking(False)
        signal.signal(signal.SIGTERM, self.handle)
        before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=self.forget_in_child)
        threading.Thread(target=self.listen, args=(receiver,), name="gnomon-termination", daemon=True).start()
        try:
            yield
        finally:
            self.unwound.set()
            if signal.getsignal(signal.SIGTERM) == self.handle:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
            if (latest := signal.set_wakeup_fd(before)) not in (-1, sender.fileno()):
                signal.set_wakeup_fd(latest)  # The script, such as asyncio in it, has set its own.
            sender.close()

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Raises `ScriptTerminated` at the place that the script has reached."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise ScriptTerminated

    def listen(self, receiver: socket.socket) -> None:
        """Waits for the signal in a thread; ends the process if the script does not end by itself."""
        with receiver:
            while numbers := receiver.recv(64):
                if signal.SIGTERM in numbers and not self.unwound.wait(SECONDS_TO_UNWIND):
                    try:
                        self.write_report()
                    finally:
                        ctypes.pythonapi.PyOS_setsig(int(signal.SIGTERM), None)  # signal.signal needs the main thread
                        os.kill(self.process, signal.SIGTERM)

    def forget_in_child(self) -> None:
        """Restores the usual behavior in a forked process, such as a worker of a `DataLoader`."""
        if self.unwound.is_set():
            return
        signal.set_wakeup_fd(-1)
        if signal.getsignal(signal.SIGTERM) == self.handle:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
