"""Spark for tests: in this process, or a master and workers in processes of their own."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REQUIRE = "DELTAVEC_REQUIRE_JAVA"
PATIENCE = 300  # seconds that a process may take to get somewhere
LOOPBACK = "127.0.0.1"
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # what runs for seconds starts quickly

# pyspark says so of every pandas from 3 on; no frame of pandas comes into these tests.
IGNORED = "ignore:PySpark does not yet fully support pandas:FutureWarning"

Found = TypeVar("Found")


def require_java() -> None:
    """Skip without Java, or fail where it is required."""
    if shutil.which("java") or os.environ.get("JAVA_HOME"):
        return
    sentence = "there is no Java: apt-get install openjdk-17-jre-headless"
    if os.environ.get(REQUIRE):
        pytest.fail(f"{sentence} ({REQUIRE} is set)")
    pytest.skip(sentence)


def settings(folder: Path) -> dict[str, str]:
    """Settings of a small Spark that stays on this machine and in this folder."""
    return {
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.driver.host": LOOPBACK,
        "spark.executor.extraJavaOptions": JAVA_OPTIONS,
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def surroundings() -> dict[str, str]:
    """The environment for a process of Spark."""
    import pyspark

    return {
        **os.environ,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONWARNINGS": "ignore::FutureWarning",
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": LOOPBACK,
    }


@contextlib.contextmanager
def running_session(folder: Path) -> Iterator[SparkSession]:
    """A session in this process with two cores, which tries a task twice."""
    require_java()
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as environment:
        for name in ("PYSPARK_PYTHON", "SPARK_LOCAL_IP"):
            environment.setenv(name, surroundings()[name])
        builder = SparkSession.builder.master("local[2,2]").appName("tests")
        for name, value in settings(folder).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")  # tasks that fail here fail on purpose
        try:
            yield session
        finally:
            session.stop()


def spark_program(name: str) -> str:
    """The path of one of Spark's own programs."""
    return str(Path(surroundings()["SPARK_HOME"], "bin", name))


def waited_for(what: str, found: Callable[[], Found | None]) -> Found:
    """What is there sooner or later, or a failure after a long time."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        result = found()
        if result:
            return result
        time.sleep(0.02)  # between two looks at the condition
    pytest.fail(f"waited {PATIENCE} seconds for {what}")


class Running:
    """A process of Spark's, and what it logs."""

    def __init__(self, folder: Path, kind: str, *arguments: str) -> None:
        folder.mkdir(parents=True)
        self.log = folder / "log.txt"
        environment = {
            **surroundings(),
            "SPARK_DAEMON_JAVA_OPTS": JAVA_OPTIONS,
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_WORKER_DIR": str(folder / "work"),
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [spark_program("spark-class"), f"org.apache.spark.deploy.{kind}", *arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment,
                start_new_session=True,  # so that its executors end with it
            )

    def logged(self, pattern: str) -> str:
        """The first thing in the log that looks like this, as soon as it is there."""

        def found() -> re.Match[str] | None:
            assert self.process.poll() is None, self.log.read_text()
            return re.search(pattern, self.log.read_text())

        return waited_for(f"{pattern!r} in {self.log}", found)[0]

    def kill(self) -> None:
        """End the process and those that it has started, without a word of warning."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Cluster:
    """A master and two workers of one core each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[Running] = []
        self.address = ""
        self.workers: dict[str, Running] = {}

    def start(self) -> None:
        """Start all processes, and wait until the workers are known to the master."""
        place = ("--host", LOOPBACK, "--port", "0", "--webui-port", "0")
        master = self.begun("master", "master.Master", *place)
        self.address = master.logged(r"spark://[\d.:]+")
        for name in ("worker-1", "worker-2"):
            room = ("--cores", "1", "--memory", "1g")
            self.workers[name] = self.begun(name, "worker.Worker", *place, *room, self.address)
        for worker in self.workers.values():
            worker.logged("Successfully registered with master")

    def begun(self, name: str, kind: str, *arguments: str) -> Running:
        """A process that was just started, and will be ended with the others."""
        process = Running(self.folder / name, kind, *arguments)
        self.running.append(process)
        return process

    def stop(self) -> None:
        """End all processes."""
        for process in reversed(self.running):
            process.kill()


@contextlib.contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster on this machine, gone at the end."""
    require_java()
    cluster = Cluster(folder)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
