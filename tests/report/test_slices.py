"""Parts of a measurement are listed by kind: words, frequency bands and names are not mixed up."""

from report_examples import around, make_finding, make_run

from unembed.report.html import render_html
from unembed.results.schema import Slice


def test_each_kind_of_slice_has_its_own_list():
    kinds = ("keyword", "word length")
    slices = [Slice(kind=k, name=f"part {i}", estimate=around(0.5, 0.1)) for k in kinds for i in range(2)]
    page = render_html(make_run(findings=[make_finding("own", game="own", metric="accuracy", slices=slices)]))
    for kind in kinds:
        assert page.count(f"<summary>By {kind}</summary>") == 1
