"""A PostgreSQL server for the session, and the invented world in every store."""

import contextlib
import shutil
import signal
import tempfile
import time
from pathlib import Path

import pytest
from store_makers import MAKERS, make_world, need, pgvector


def alive(process):
    """Whether a process still does anything."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Database:
    """A server of our own, on a socket in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.start()

    def start(self):
        import pgserver

        self._server = pgserver.get_server(str(self.folder), cleanup_mode="stop")
        self.address = self._server.get_uri()

    def url(self, table, **options):
        more = "".join(f"&{key}={value}" for key, value in options.items())
        return f"postgresql://postgres@/postgres/{table}?host={self.folder}{more}"

    def kill(self):
        """End it as a power cut would, and wait until nothing of it answers."""
        import psutil
        from pgserver import PostgresServer

        server = psutil.Process(int((self.folder / "postmaster.pid").read_text().split()[0]))
        processes = [server, *server.children(recursive=True)]
        server.send_signal(signal.SIGQUIT)
        while any(alive(process) for process in processes):
            time.sleep(0.05)
        PostgresServer._instances.pop(self._server.pgdata, None)

    def stop(self):
        with contextlib.suppress(Exception):
            self._server.cleanup()


@pytest.fixture(scope="session")
def database():
    need("pgserver", "psycopg")
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # the path of a socket must be short
    server = Database(folder)
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def world():
    return make_world()


@pytest.fixture
def make(request, tmp_path):
    """Writes a world into a kind of store; returns its URL, a client and the name for it."""

    def made(kind, records, **more):
        if kind == "pgvector":
            return pgvector(request.getfixturevalue("database"), records, **more)
        return MAKERS[kind](tmp_path, records, **more)

    made.folder = tmp_path
    return made
