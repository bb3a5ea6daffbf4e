"""One grammar for the addresses of all stores: ``KIND:PLACE[/NAME][?OPTION=VALUE&…]``.

The place is a file, a folder or ``http://host:port``; the name is the collection or table. A password never stands in
an address: addresses end up in shell histories, run folders and reports.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from unembed.collections.stores.base import Options, StoreFacts
from unembed.collections.stores.conditions import parse_condition
from unembed.errors import RemoteNotAllowedError, UnknownNameError, UsageError

#: Other names of kinds: what people paste, and endings of files.
ALIASES = {
    "postgresql": "pgvector",
    "postgres": "pgvector",
    "npz": "npy",
    "safetensors": "npy",
    "arrow": "parquet",
    "lance": "lancedb",
    "sqlite-vec": "sqlite",
    "dataset": "datasets",
}
_ENDINGS = {".npy": "npy", ".npz": "npy", ".safetensors": "npy", ".parquet": "parquet", ".pq": "parquet"} | {
    ".arrow": "parquet",
    ".index": "faiss",
    ".faiss": "faiss",
    ".duckdb": "duckdb",
}
_SECRETS = ("password", "passwd", "pwd", "api_key", "apikey", "key", "token", "secret")
_NAMES = ("vectors", "text", "id", "where", "timeout", "missing", "host", "split")


@dataclass(frozen=True)
class Address:
    """Where a store lies, taken apart."""

    kind: str
    place: str
    options: Options
    query: bool = False

    @property
    def host(self) -> str | None:
        """The machine that would be asked; None: a file or socket of this one."""
        if "://" not in self.place:
            return None
        told = self.options.host or urlsplit(self.place).hostname
        if told is None and self.kind == "pgvector":
            told = os.environ.get("PGHOST")  # what the client falls back to
        return None if told is None or told.startswith("/") else told


def parse_address(url: str, kinds: dict[str, StoreFacts]) -> Address:
    """An address, taken apart; what can't be meant is refused without repeating what may be a secret."""
    head, _, query = url.partition("?")
    kind, colon, place = head.partition(":")
    kind = kind.lower()
    kind = ALIASES.get(kind, kind)
    if not colon or kind not in kinds:
        ending = _ENDINGS.get(Path(head).suffix.lower())
        if ending is None or (colon and not Path(head).exists()):
            shown = f"'{kind}'" if colon and kind.isalnum() else "this"
            raise UsageError(f"{shown} is not a kind of store: KIND:PLACE with one of {', '.join(kinds)}")
        kind, place = ending, head
    if kind == "pgvector":
        place = (
            place if "://" in place else f"postgresql:{place}" if place.startswith("//") else f"postgresql://{place}"
        )
    facts = kinds[kind]
    _no_password(place, facts)
    if not place:
        raise UsageError(f"the address of a store names its place: {facts.example}")
    return Address(kind, place, _options(query, facts), bool(query))


def named(place: str, *, folder: bool = False) -> tuple[str, str | None]:
    """A path or address and the collection behind its last slash; None where the whole is what is on disk."""
    if "://" not in place:
        whole = Path(place).expanduser()
        if whole.exists() and (folder or whole.is_file()):
            return str(whole), None
    elif not urlsplit(place).path.strip("/"):
        return place.rstrip("/"), None
    before, slash, name = place.rpartition("/")
    if not slash or not before:
        return str(Path(place).expanduser()), None
    where = before if "://" in before else str(Path(before).expanduser())
    return where, unquote(name) or None


def must_exist(place: str, facts: StoreFacts, sign: str = "") -> Path:
    """The path of a store that lies in files: clients would make an empty one where there is none."""
    path = Path(place).expanduser()
    if not (path / sign if sign else path).exists():
        raise UsageError(f"no {facts.title} at {path}: the address is {facts.example.partition(':')[0]}:PATH/NAME")
    return path


def check_host(address: Address, *, allow_remote: bool) -> None:
    """Another machine is asked only by whoever allowed it."""
    host = address.host
    if host is None or allow_remote or is_loopback(host):
        return
    raise RemoteNotAllowedError(
        f"the store is on {host}: add --allow-remote (in Python allow_remote=True) if it may be asked from here"
    )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def shown(url: str) -> str:
    """An address as a title shows it: without options."""
    return url.partition("?")[0].rstrip("/").rpartition("/")[2] or "store"


def _no_password(place: str, facts: StoreFacts) -> None:
    address = place.partition("://")[2].partition("/")[0]
    user, at, _ = address.rpartition("@")
    holds = ":" in user if facts.kind == "pgvector" else bool(at)
    if at and holds and user.partition(":")[2] != "":
        raise UsageError(
            f"a password in an address ends up in logs and reports: leave it out and set the environment variable "
            f"{facts.secret or 'of the store'}"
        )
    if at and facts.kind != "pgvector":
        raise UsageError(f"an address holds no user: leave it out and set the environment variable {facts.secret}")


def _options(query: str, facts: StoreFacts) -> Options:
    given: dict[str, str] = {}
    conditions = []
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name.lower() in _SECRETS:
            raise UsageError(
                f"a password or key in an address ends up in logs and reports: leave it out and set the environment "
                f"variable {facts.secret or 'of the store'}"
            )
        if name not in _NAMES:
            raise UnknownNameError("option of an address", name[:40], _NAMES)
        if name == "where":
            conditions.append(parse_condition(value))
        elif name in given:
            raise UsageError(f"?{name}= is said twice: once is enough")
        else:
            given[name] = value
    if given.get("missing", "skip") not in ("skip", "refuse"):
        raise UsageError("?missing= is 'skip' or 'refuse'")
    return Options(
        vectors=given.get("vectors"),
        text=given.get("text"),
        id=given.get("id"),
        conditions=tuple(conditions),
        timeout=_seconds(given.get("timeout", "60")),
        missing=given.get("missing", "refuse"),
        host=given.get("host"),
        split=given.get("split"),
    )


def _seconds(told: str) -> float:
    try:
        seconds = float(told)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 86_400:
        raise UsageError("?timeout= is a number of seconds, at most a day")
    return seconds
