"""Processes that end when the test that started them fails."""

from __future__ import annotations

import subprocess
from types import TracebackType
from typing import AnyStr


class Process(subprocess.Popen[AnyStr]):
    """A process that is killed when its ``with`` block fails, instead of waited for."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, trace)
