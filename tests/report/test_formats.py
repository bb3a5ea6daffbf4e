from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from report_examples import make_finding, make_gate, make_run

from unembed.corpora.readers.fields import looks_numeric
from unembed.errors import DataError, UsageError
from unembed.report import ENDINGS, renderer, write_report
from unembed.report.html import render_html
from unembed.report.junit import render_junit
from unembed.report.markdown import escape, render_markdown
from unembed.report.sarif import fingerprints, render_sarif
from unembed.report.table import COLUMNS, render_csv, rows
from unembed.results.io import read_run
from unembed.results.schema import Run, Sample

HOSTILE = (
    "</title></script><script>alert(1)</script><img src=x onerror=alert(2)> \"'` | [a](javascript:alert(3))"
    "\n\n# head\n```\n]]>&amp;\x00\x07\x1b[31m\u202e\ud800{{ 7*7 }}{% raw %} https://evil.example @all"
)

FIXED = {"status", "level", "role", "outcome", "severity", "about"}


def poisoned(data: Any, key: str = "") -> Any:
    """The same data with hostile text in every string that isn't one of a fixed set of words."""
    if isinstance(data, str):
        return data if key in FIXED else HOSTILE + data
    if isinstance(data, dict):
        return {k: poisoned(v, k) for k, v in data.items()}
    if isinstance(data, list):
        return [poisoned(v, key) for v in data]
    return data


def hostile_run(*, gate: bool) -> Run:
    data = poisoned(make_run(gate=make_gate() if gate else None).model_dump())
    for part in (*data["findings"], *data["games"]):
        key = "game" if "game" in part else "name"
        part[key] = part[key].removeprefix(HOSTILE)
    for finding in data["findings"]:
        finding["section"] = finding["section"] and finding["section"].removeprefix(HOSTILE)
        for part in (*finding["floors"], *finding["slices"]):
            part["kind"] = part["kind"].removeprefix(HOSTILE)
    data["encoder"][HOSTILE] = [HOSTILE, {HOSTILE: HOSTILE}]
    data["data"][0]["facts"][HOSTILE] = HOSTILE
    data["environment"]["packages"][HOSTILE] = HOSTILE
    data["findings"][0]["secondary"] = {HOSTILE: data["findings"][0]["estimate"]}
    return Run.model_validate(data)


class Page(HTMLParser):
    """What a browser would make of a page: its tags, its text, its links and ids."""

    VOID = frozenset({"meta", "br", "line", "circle", "rect", "img", "link", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("ending", sorted(ENDINGS))
@pytest.mark.parametrize("gate", [False, True])
def test_every_format_writes_a_whole_file(tmp_path: Path, ending: str, gate: bool) -> None:
    path = tmp_path / "new" / f"audit{ending}"
    write_report(make_run(gate=make_gate() if gate else None), path)
    assert path.read_text(encoding="utf-8").endswith("\n")
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_sarif_json_is_sarif_and_not_the_result_file() -> None:
    assert renderer(Path("a.sarif.json")) is renderer(Path("a.SARIF"))


def test_an_unknown_ending_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"audit\.pdf.*\.html.*\.junit\.xml"):
        renderer(Path("audit.pdf"))


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_an_empty_run_can_be_reported(tmp_path: Path, ending: str) -> None:
    empty = make_run(
        status="nothing-ran", findings=[], cells=[], skipped=[], games=[], attacks=[], adversaries=[], data=[]
    )
    write_report(empty, tmp_path / f"a{ending}")


def test_reports_need_no_heavy_library() -> None:
    code = (
        "import sys, unembed.gate, unembed.report.html, unembed.report.compare, unembed.report.sarif;"
        "print([m for m in ('torch', 'sklearn', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- html


def test_the_page_opens_with_the_answer_and_keeps_the_order(judged_run: Run) -> None:
    text = render_html(judged_run)
    ids = ["answer", "advice", "open", "policy", "findings", "usefulness", "untested", "reproduce", "glossary"]
    places = [text.index(f'<section id="{name}"') for name in ids]
    assert places == sorted(places)
    assert text.index("Somebody who holds part of this collection and a copy") < places[1]


@pytest.mark.parametrize("gate", [False, True])
def test_the_page_is_well_formed_and_loads_nothing(gate: bool) -> None:
    page = Page(render_html(make_run(gate=make_gate() if gate else None)))
    assert page.open == ["html"] or page.open == []
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    targets = [value for _, name, value in page.attributes if name in ("href", "src")]
    ids = [value for _, name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert all(target.startswith("#") and target[1:] in ids for target in targets)
    assert "url(" not in render_html(make_run())
    assert "@import" not in render_html(make_run())


def test_every_chart_has_words_and_every_table_a_caption(run: Run) -> None:
    page = Page(render_html(run))
    silent = page.attributes.count(("svg", "aria-hidden", "true"))
    told = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert silent + len(told) == page.tags.count("svg")
    assert all("floor" in label or label.endswith("pairs.") or "against what is lost" in label for label in told)
    assert page.tags.count("table") == page.tags.count("caption") > 0
    assert page.tags.count("h1") == 1


def test_what_could_not_be_measured_is_never_shown_as_safe() -> None:
    poor = [f for f in make_run().findings if f.status == "could-not-measure"]
    text = render_html(make_run(findings=poor, verdict=make_run().verdict.model_copy(update={"level": "unknown"})))
    body = re.sub(r'<ul class="legend".*?</ul>', "", text[text.index("<main") :], flags=re.S)
    assert "tone-none" not in body
    assert "not a sign of safety" in body
    assert 'class="unmeasured"' in body


def test_a_finding_that_is_not_trusted_shows_no_number_even_if_it_has_one() -> None:
    poor = make_finding("x", value=0.4567, status="no-leak-found", level="none")
    poor = poor.model_copy(update={"trust": poor.trust.model_copy(update={"trusted": False})})
    text = render_html(make_run(findings=[poor]))
    assert "0.46" not in text
    assert 'class="badge tone-none"' not in text


def test_a_curve_is_drawn_only_when_the_number_of_pairs_varies() -> None:
    assert "How much does it take?" in render_html(make_run())
    assert "How much does it take?" not in render_html(make_run(findings=[make_finding("a")]))


def test_tracebacks_stay_in_the_result_file(run: Run) -> None:
    for render in (render_html, render_markdown, render_junit, render_sarif):
        text = render(run)
        assert "out of memory" in text
        assert "Traceback" not in text


def test_text_in_clear_is_announced() -> None:
    masked = render_html(make_run())
    sample = Sample(target="t", truth=["alpha"], recovered=["alpha"], masked=False)
    clear = render_html(make_run(findings=[make_finding("a", samples=[sample])]))
    assert "recovered text in clear" not in masked
    assert "Treat it as you would treat the texts themselves" in clear


def test_only_texts_of_a_generator_are_called_invented() -> None:
    sample = Sample(target="t", truth=["alpha"], recovered=["alpha"], masked=False)
    cards = make_run().data
    made_up = [cards[0].model_copy(update={"facts": {"generated": True}}), *cards[1:]]
    for data, invented in ((made_up, True), (cards, False)):
        text = render_html(make_run(findings=[make_finding("a", samples=[sample])], data=data))
        assert ("nobody in them exists" in text) == invented
        assert ("Treat it as you would treat the texts themselves" in text) == (not invented)


@pytest.mark.parametrize("gate", [False, True])
def test_hostile_names_stay_text_in_html(gate: bool) -> None:
    expected = Page(render_html(make_run(gate=make_gate() if gate else None)))
    page = Page(render_html(hostile_run(gate=gate)))
    assert set(page.tags) == set(expected.tags)
    assert not [a for a in page.attributes if a[1].startswith("on") or "javascript:" in a[2][:20]]
    assert {name for _, name, _ in page.attributes} == {name for _, name, _ in expected.attributes}
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7*7 }}" in page.text
    assert "\x00" not in page.text
    assert "\u202e" not in page.text


# --- markdown


def test_markdown_says_the_verdict_the_policy_and_what_was_not_tested(judged_run: Run) -> None:
    text = render_markdown(judged_run)
    for part in ("**High exposure.**", "## Policy: violated", "## Findings", "## Not tested", "out of memory"):
        assert part in text


def test_hostile_names_stay_text_in_markdown() -> None:
    text = render_markdown(hostile_run(gate=True))
    outside = "\n".join(line for i, part in enumerate(text.split("````")) if i % 2 == 0 for line in part.splitlines())
    assert "<" not in outside
    assert not re.search(r"(?<!\\)\]\(", outside)
    assert "https://" not in outside
    assert [line for line in outside.splitlines() if line.startswith("# head")] == []
    heads = [line for line in text.splitlines() if line.startswith("|---")]
    widths = {line.count("|") for line in outside.splitlines() if line.startswith("|")}
    assert widths <= {head.count("|") for head in heads}


@pytest.mark.parametrize("text", ["- item", "1. item", "# head", "a_b_c", "[x](y)", "`code`", "| cell |", "a\nb"])
def test_escaped_text_has_no_markup_left(text: str) -> None:
    plain = re.sub(r"\\.|&[#\w]+;", "", escape(text))
    assert not re.search(r"[`*_\[\]|<>\n]", plain)
    assert not re.match(r"[-+#]|\d+[.)]\s", escape(text))


def test_numbers_are_not_cluttered() -> None:
    assert escape("0.46 (0.43–0.49), a-b") == "0.46 (0.43–0.49), a-b"


# --- junit


def test_junit_counts_agree_with_its_cases(judged_run: Run) -> None:
    suite = ET.fromstring(render_junit(judged_run)).find("testsuite")
    assert suite is not None
    assert suite.get("tests") == str(len(suite.findall("testcase")))
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("1", "2", "3")


def test_junit_without_a_policy_has_a_case_for_each_finding(run: Run) -> None:
    suite = ET.fromstring(render_junit(run)).find("testsuite")
    assert suite is not None
    cases = [c for c in suite.findall("testcase") if (c.get("classname") or "").startswith("unembed.findings")]
    assert len(cases) == len(run.findings)
    assert len({c.get("name") for c in cases}) == len(cases)
    kinds = [e.get("type") for e in suite.iter("error")]
    assert sorted(filter(None, kinds)) == ["could-not-measure", "failed", "inconclusive"]


def test_a_run_in_which_nothing_ran_is_an_error_in_junit() -> None:
    suite = ET.fromstring(render_junit(make_run(findings=[], cells=[], skipped=[]))).find("testsuite")
    assert suite is not None
    assert suite.get("errors") == "1"


@pytest.mark.parametrize("gate", [False, True])
def test_hostile_names_leave_xml_well_formed(gate: bool) -> None:
    root = ET.fromstring(render_junit(hostile_run(gate=gate)))
    assert {e.tag for e in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out",
    }  # fmt: skip


# --- sarif


def check_sarif(text: str) -> dict[str, Any]:
    """The parts of SARIF 2.1.0 that viewers rely on."""
    log: dict[str, Any] = json.loads(text)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    ids = [rule["id"] for rule in rules]
    assert len(ids) == len(set(ids))
    taxa = {(part["name"], taxon["id"]) for part in run["taxonomies"] for taxon in part["taxa"]}
    for rule in rules:
        assert rule["shortDescription"]["text"]
        for relation in rule["relationships"]:
            assert (relation["target"]["toolComponent"]["name"], relation["target"]["id"]) in taxa
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["kind"] in ("fail", "review", "open")
        assert result["level"] in ("error", "warning", "note", "none")
        assert (result["level"] == "none") == (result["kind"] != "fail")
        assert result["message"]["text"]
        assert result["partialFingerprints"]
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"]
        for taxon in result["taxa"]:
            assert (taxon["toolComponent"]["name"], taxon["id"]) in taxa
    return log


def test_sarif_tells_leaks_from_what_could_not_be_measured(run: Run) -> None:
    results = check_sarif(render_sarif(run))["runs"][0]["results"]
    by_finding = {r["properties"]["finding"]: r for r in results}
    assert by_finding["inv-8000"]["level"] == "error"
    assert by_finding["inv-500"]["level"] == "warning"
    assert by_finding["at-net"]["kind"] == "open"
    assert by_finding["at-out"]["kind"] == "review"
    assert "kw-out" not in by_finding
    assert by_finding["inv-8000"]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "tickets.toml"


def test_sarif_takes_the_level_from_the_policy_where_there_is_one(judged_run: Run) -> None:
    run = check_sarif(render_sarif(judged_run))["runs"][0]
    by_finding = {r["properties"]["finding"]: r for r in run["results"]}
    assert by_finding["inv-8000"]["level"] == "error"
    lists = {part["name"]: [t["id"] for t in part["taxa"]] for part in run["taxonomies"]}
    assert lists["MITRE ATLAS"] == ["AML.T0024.001"]
    assert run["invocations"][0]["exitCode"] == 1
    assert run["invocations"][0]["executionSuccessful"] is False


def test_fingerprints_are_unique_and_do_not_depend_on_the_numbers() -> None:
    first = fingerprints(make_run())
    assert len(set(first.values())) == len(first)
    changed = [f.model_copy(update={"seed": 99, "status": "leak"}) for f in make_run().findings]
    assert fingerprints(make_run(findings=changed[::-1])) == first


@pytest.mark.parametrize("gate", [False, True])
def test_hostile_names_leave_sarif_valid(gate: bool) -> None:
    check_sarif(render_sarif(hostile_run(gate=gate)))


# --- csv


def test_csv_has_one_row_a_finding_and_empty_cells_for_what_is_missing(run: Run) -> None:
    table = list(csv.DictReader(io.StringIO(render_csv(run))))
    assert len(table) == len(run.findings)
    assert tuple(table[0]) == COLUMNS == tuple(rows(run)[0])
    missing = next(row for row in table if row["id"] == "at-net")
    assert (missing["value"], missing["excess"], missing["headroom"]) == ("", "", "")
    assert float(table[0]["value"]) == run.findings[0].estimate.value


def test_a_spreadsheet_runs_no_formula_from_a_name() -> None:
    run = make_run(findings=[make_finding("=1+1", subject="@SUM(A1)", defense="-2")])
    (row,) = csv.DictReader(io.StringIO(render_csv(run)))
    assert (row["id"], row["subject"], row["defense"]) == ("'=1+1", "'@SUM(A1)", "'-2")
    assert list(csv.DictReader(io.StringIO(render_csv(hostile_run(gate=False)))))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["\n=1+1", "＝1+1", ";=1+1", "a;=1+1", "a\n=1+1", "a\t@x", "a|+1", " =1+1", "－1"])
def test_no_regional_setting_finds_a_formula(name: str, separator: str) -> None:
    """A spreadsheet may take another sign for the end of a cell than the comma, and then quotes do not hold."""
    made = render_csv(make_run(findings=[make_finding(name, subject=name)]))
    cells = re.split(f"[{re.escape(separator)}\n]", made)
    signs = tuple("=+-@＝＋－＠")
    assert not [c for c in cells if c.strip().strip('"').lstrip().startswith(signs) and not looks_numeric(c)]


def test_a_plain_name_stays_as_it_is() -> None:
    (row,) = csv.DictReader(io.StringIO(render_csv(make_run(findings=[make_finding("a-b = c; d+e")]))))
    assert row["id"] == "a-b = c; d+e"


@pytest.mark.parametrize("number", ["1e308", "-1e308", "1e999", "1" + "0" * 400])
def test_a_result_with_a_number_that_no_measurement_gives_is_refused(number: str, run: Run, tmp_path: Path) -> None:
    document = json.loads(run.model_dump_json())
    document["findings"][0]["estimate"]["high"] = "NUMBER"
    (tmp_path / "run.json").write_text(json.dumps(document).replace('"NUMBER"', number), encoding="utf-8")
    with pytest.raises(DataError, match=r"run\.json"):
        read_run(tmp_path)
    document["findings"][0]["estimate"]["high"] = 0.9
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    assert read_run(tmp_path).findings
