"""From a path to the files behind it: one file, a folder of shards, a saved Hugging Face data set."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from unembed.corpora.readers.options import FORMATS, ReadOptions
from unembed.errors import DataError, UnknownNameError, UsageError
from unembed.files import check_file, read_json, reading

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".txt": "txt",
    ".text": "txt",
}
_DESCRIPTION = "description of a data set"


@dataclass(frozen=True)
class Source:
    """The files that hold the rows, in order, and their format."""

    name: str
    format: str
    files: tuple[Path, ...]


def find_source(path: str | Path, options: ReadOptions) -> Source:
    """The files behind a path; ``folder#split`` chooses a split or the shards named after it."""
    where, split = _existing(path)
    if where.is_dir():
        return _folder(where, split, options)
    if split is not None:
        raise UsageError(f"{where.name} is a file and has no split '{split}'; drop what follows '#'")
    check_file(where)
    return Source(where.name, options.format or _format_of(where), (where,))


def _existing(path: str | Path) -> tuple[Path, str | None]:
    given = os.fspath(path)
    try:
        whole = Path(given).expanduser()
        if whole.exists():
            return whole, None
        before, mark, split = given.rpartition("#")
        part = Path(before).expanduser()
        if mark and split and part.exists():
            return part, split
    except (ValueError, RuntimeError, OSError) as error:
        raise DataError(f"the path can't be used: {error}") from None
    raise DataError(f"no such file or folder: {given}")


def _known_format(path: Path) -> str | None:
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        inner = SUFFIXES.get(suffixes[-2]) if len(suffixes) > 1 else None
        return inner if inner not in ("parquet", "arrow") else None
    return SUFFIXES.get(suffixes[-1]) if suffixes else None


def _format_of(path: Path) -> str:
    found = _known_format(path)
    if found is None:
        raise UsageError(
            f"can't tell the format of '{path.name}' from its name; pass format=, one of {', '.join(FORMATS)}"
        )
    return found


def _folder(folder: Path, split: str | None, options: ReadOptions) -> Source:
    if not os.access(folder, os.R_OK | os.X_OK):
        raise DataError(f"{folder.name} can't be read: no permission")
    if (folder / "dataset_dict.json").is_file():
        splits = read_json(folder / "dataset_dict.json", _DESCRIPTION).get("splits")
        names = [s for s in splits if isinstance(s, str)] if isinstance(splits, list) else []
        return _saved_dataset(_inside(folder, _choose_split(folder, names, split)))
    if (folder / "state.json").is_file():
        if split is not None:
            raise UsageError(f"{folder.name} is one data set without splits; drop '#{split}'")
        return _saved_dataset(folder)
    return _shards(folder, split, options)


def _choose_split(folder: Path, names: list[str], split: str | None) -> str:
    if not names:
        raise DataError(f"{folder.name}/dataset_dict.json does not list any splits")
    if split is None:
        if len(names) > 1:
            raise UsageError(f"{folder.name} has several splits ({', '.join(names)}); choose one: {folder}#{names[0]}")
        return names[0]
    if split not in names:
        raise UnknownNameError("split", split, names, hint=f"in {folder.name}")
    return split


def _saved_dataset(folder: Path) -> Source:
    if not (folder / "state.json").is_file():
        raise DataError(f"{folder.name} is not a saved data set: it has no state.json")
    state = read_json(folder / "state.json", _DESCRIPTION)
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise DataError(f"{folder.name} was saved with an index over its rows; save it after flatten_indices()")
    entries = state.get("_data_files")
    names = [e.get("filename") for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []
    files = [_inside(folder, name) for name in names if isinstance(name, str)]
    if not files:
        raise DataError(f"{folder.name}/state.json does not list any data files")
    for file in files:
        check_file(file)
    return Source(folder.name, "arrow", tuple(files))


def _inside(folder: Path, name: str) -> Path:
    if Path(name).name != name or name in ("", ".", ".."):
        raise DataError(f"{folder.name}: its description points outside the folder; not followed")
    if not (folder / name).exists():
        raise DataError(f"{folder.name}: '{name}' is named in its description but is not there")
    return folder / name


def _shards(folder: Path, split: str | None, options: ReadOptions) -> Source:
    if split is not None and (folder / split).is_dir() and Path(split).name == split:
        return _folder(folder / split, None, options)
    found: dict[str, list[Path]] = {}
    with reading(folder):
        entries = sorted(folder.iterdir())
    for entry in entries:
        kind = _known_format(entry)
        if kind is None or entry.name.startswith((".", "_")) or not entry.is_file():
            continue
        if split is None or entry.name.startswith(split):
            found.setdefault(kind, []).append(entry)
    if options.format is not None:
        found = {kind: files for kind, files in found.items() if kind == options.format}
    if not found:
        part = f" of '{split}'" if split else ""
        raise DataError(f"{folder.name} holds no data files{part} (looked for {', '.join(sorted(SUFFIXES))}, also .gz)")
    if len(found) > 1:
        raise UsageError(f"{folder.name} mixes formats ({', '.join(sorted(found))}); choose one with format=")
    kind, files = found.popitem()
    for file in files:
        check_file(file)
    return Source(folder.name, kind, tuple(files))
