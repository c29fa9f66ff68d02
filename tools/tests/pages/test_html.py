"""Every page is valid, every link and anchor resolves, every feed follows its format."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
from datetime import datetime
from email.utils import parsedate_to_datetime
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit
from xml.etree import ElementTree

import feedparser
import pytest
from PIL import Image

from pages.conftest import BASE_URL, Built
from project import ROOT
from tlsperf.load.page import read_pages
from tlsperf.publish.reports import moment

pytestmark = [pytest.mark.zola, pytest.mark.any_site]

HERE = Path(__file__).parent
ATOM = "{http://www.w3.org/2005/Atom}"
DC = "{http://purl.org/dc/elements/1.1/}"
CONTENT = "{http://purl.org/rss/1.0/modules/content/}"


def checker(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a class of the W3C Nu checker's archive."""
    jar = ROOT / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
    if not jar.exists():
        pytest.fail("no Nu checker: run `npm ci` at the top of the repository")
    if not shutil.which("java"):
        pytest.fail("no Java for the Nu checker: on Debian `apt-get install default-jre-headless`")
    return subprocess.run(["java", "-cp", str(jar), *arguments], capture_output=True, text=True)


def test_every_page_and_style_sheet_is_valid(site: Built) -> None:
    result = checker(
        "nu.validator.client.SimpleCommandLineValidator",
        *("--format", "json", "--also-check-css", "--also-check-svg", "--exit-zero-always"),
        *(str(site.public / page) for page in site.pages()),
        *map(str, site.public.rglob("*.css")),
        *map(str, site.public.rglob("*.svg")),
    )
    messages = json.loads(result.stderr)["messages"]
    assert len(site.pages()) > 5
    assert [
        f"{m['url'].rpartition('/public/')[2]}:{m.get('lastLine')}: {m['message']}"
        for m in messages
        # It takes a file to come from another origin than its style sheet; a browser does not,
        # and test_browser.py reads them from one.
        if not m["message"].startswith("Resource violates Content Security Policy")
    ] == []


class Links(HTMLParser):
    """What a page links to and loads, its ids, and what a strict policy would refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.canonical: list[str] = []
        self.alternate: list[str] = []
        self.ids: list[str] = []
        self.refused: list[str] = []
        self.properties: list[str] = []
        self.policy = ""
        self.meta: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "itemprop" in values:
            self.properties.append(values["itemprop"])
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "style" or "style" in values or any(name.startswith("on") for name in values):
            self.refused.append(f"{tag} {values}")
        if tag == "script" and "src" not in values:
            self.refused.append(f"{tag} {values}")
        if tag == "meta" and "content" in values:
            name = values.get("property", values.get("name", ""))
            self.meta.setdefault(name, []).append(values["content"])
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]
        if tag == "link" and values.get("rel") == "canonical":
            self.canonical.append(values["href"])
        elif tag == "link" and values.get("rel") == "alternate":
            self.alternate.append(values["href"])
        else:
            self.targets += [values[name] for name in ("href", "src") if name in values]


@functools.cache
def links_of(text: str) -> Links:
    links = Links()
    links.feed(text)
    return links


@functools.cache
def ids_of(file: Path) -> frozenset[str]:
    return frozenset(links_of(file.read_text(encoding="utf-8")).ids)


def resolve(site: Built, page: str, target: str) -> str | None:
    """What is wrong with a link of a page; None if it leads to a file, and to an id in it."""
    if target.startswith(BASE_URL):
        address, base = target.removeprefix(BASE_URL).lstrip("/"), site.public
    elif target.startswith("/"):
        root = urlsplit(BASE_URL).path
        if not target.startswith(f"{root}/"):
            return f"{page}: {target} is outside the site"
        address, base = target.removeprefix(root).lstrip("/"), site.public
    elif urlsplit(target).scheme:
        return None if target.startswith("https://") else f"{page}: {target} is not https"
    else:
        address, base = target, (site.public / page).parent
    path, fragment = urldefrag(address)
    file = (base / unquote(urlsplit(path).path)).resolve() if path else site.public / page
    if file.is_dir():
        file = file / "index.html"
    if not file.is_relative_to(site.public.resolve()) or not file.is_file():
        return f"{page}: {target} leads nowhere"
    if fragment and fragment not in ids_of(file):
        return f"{page}: {target}: no such anchor"
    return None


def test_every_link_and_anchor_resolves(site: Built) -> None:
    broken = []
    for page in site.pages():
        links = links_of(site.text(page))
        for target in dict.fromkeys(links.targets + links.alternate):
            if wrong := resolve(site, page, target):
                broken.append(wrong)
    assert broken == []


def test_no_link_depends_on_where_the_site_lives(site: Built) -> None:
    for page in site.pages():
        targets = links_of(site.text(page)).targets
        if page == "404.html":  # shown at any depth, on any host: from the root of the host on
            assert [t for t in targets if not t.startswith(("/", "#", "https:"))] == []
            assert [t for t in targets if t.startswith(BASE_URL)] == []
        else:
            assert [t for t in targets if t.startswith(("/", BASE_URL))] == [], page


def test_every_page_states_its_address(site: Built) -> None:
    for page in site.pages():
        expected = f"{BASE_URL}/{page.removesuffix('index.html')}"
        links = links_of(site.text(page))
        assert links.canonical == ([] if page == "404.html" else [expected])


def test_every_page_has_a_strict_policy_and_nothing_it_rejects(site: Built) -> None:
    for page in site.pages():
        links = links_of(site.text(page))
        assert "default-src 'none'" in links.policy, page
        assert "unsafe" not in links.policy, page
        assert links.refused == [], page


def test_the_site_map_lists_every_page(site: Built) -> None:
    tree = ElementTree.parse(site.public / "sitemap.xml")
    listed = {e.text for e in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")}
    pages = {f"{BASE_URL}/{page.removesuffix('index.html')}" for page in site.pages()}
    assert pages - {f"{BASE_URL}/404.html"} == listed


def test_a_report_is_a_dataset_to_machines(site: Built) -> None:
    reports = [page for page in site.pages() if re.match(r"perf/.+/index\.html", page)]
    assert reports
    for page in reports:
        assert 'itemtype="https://schema.org/Dataset"' in site.text(page)
        required = {"name", "description", "url", "license", "creator", "distribution"}
        assert required <= set(links_of(site.text(page)).properties)


def test_every_page_has_a_picture_for_previews(site: Built) -> None:
    """One, at an absolute address, of the size that it states, described; a report's is its own."""
    for page in site.pages():
        meta = links_of(site.text(page)).meta
        [address] = meta["og:image"]
        assert address.startswith(f"{BASE_URL}/"), page
        picture = site.public / address.removeprefix(f"{BASE_URL}/")
        stated = (*meta["og:image:width"], *meta["og:image:height"])
        with Image.open(picture) as image:
            assert image.format == "PNG"
            assert tuple(map(str, image.size)) == stated, page
        assert meta["twitter:card"] == ["summary_large_image"]
        [alt] = meta["og:image:alt"]
        of_all, own = site.public / "preview.png", (site.public / page).with_name("preview.png")
        assert picture == (own if own.exists() else of_all), page
        assert len(alt) > 40, page
        assert ("is better" in alt) is (picture != of_all), page


def rss_feeds(site: Built) -> list[Path]:
    return sorted(site.public.rglob("rss.xml"))


def content_problems(site: Built, html: str) -> list[str]:
    """What is wrong with an entry's links: each is whole or within it, and leads to something."""
    links = links_of(html)
    targets = [t for t in links.targets if t.removeprefix("#") not in links.ids]
    wrong = [t for t in targets if not t.startswith("https://")]
    return wrong + [w for t in targets if (w := resolve(site, "index.html", t))]


def test_rss_follows_its_rules(site: Built) -> None:
    feeds = rss_feeds(site)
    assert site.public / "rss.xml" in feeds
    for feed in feeds:
        channel = ElementTree.parse(feed).getroot().find("channel")
        assert channel is not None
        own = f"{BASE_URL}/{feed.relative_to(site.public)}"
        link = channel.find(f"{ATOM}link[@rel='self']")
        assert link is not None
        assert link.get("href") == own
        for name in ("title", "link", "description", "language"):
            assert channel.findtext(name), f"{own}: {name}"
        guids = [item.findtext("guid") for item in channel.iter("item")]
        assert len(set(guids)) == len(guids)
        for item in channel.iter("item"):
            assert item.findtext("title")
            guid = item.find("guid")
            assert guid is not None
            assert guid.get("isPermaLink") == "true"
            assert guid.text == item.findtext("link")
            assert resolve(site, "index.html", guid.text or "") is None
            assert parsedate_to_datetime(item.findtext("pubDate") or "").utcoffset() is not None
            assert item.findtext(f"{DC}creator")
            assert content_problems(site, item.findtext(f"{CONTENT}encoded") or "") == []


def test_atom_follows_its_grammar(site: Built) -> None:
    feeds = sorted(site.public.rglob("atom.xml"))
    assert site.public / "atom.xml" in feeds
    result = checker(
        "nu.validator.vendor.thaiopensource.relaxng.util.Driver",
        "-i",
        "-c",
        str(HERE / "atom.rnc"),
        *map(str, feeds),
    )
    assert (result.returncode, result.stdout) == (0, ""), result.stdout + result.stderr
    for feed in feeds:
        root = ElementTree.parse(feed).getroot()
        assert root.findtext(f"{ATOM}id") == f"{BASE_URL}/{feed.relative_to(site.public)}"
        for link in root.iter(f"{ATOM}link"):
            assert resolve(site, "index.html", link.get("href") or "") is None
            assert (link.get("href") or "").startswith(f"{BASE_URL}/")
        for entry in root.iter(f"{ATOM}entry"):
            assert entry.find(f"{ATOM}author") is not None
            [own] = entry.findall(f"{ATOM}link")
            assert own.get("href") == entry.findtext(f"{ATOM}id")
            assert content_problems(site, entry.findtext(f"{ATOM}content") or "") == []


def test_json_feeds_follow_their_rules(site: Built) -> None:
    """JSON Feed 1.1, with the entries of the Atom feed beside it."""
    feeds = sorted(site.public.rglob("feed.json"))
    assert {feed.parent for feed in feeds} == {f.parent for f in site.public.rglob("atom.xml")}
    for path in feeds:
        feed = json.loads(path.read_text(encoding="utf-8"))
        assert feed["version"] == "https://jsonfeed.org/version/1.1"
        assert feed["title"]
        assert feed["feed_url"] == f"{BASE_URL}/{path.relative_to(site.public)}"
        assert resolve(site, "index.html", feed["home_page_url"]) is None
        atom = ElementTree.parse(path.with_name("atom.xml")).getroot()
        ids = [entry.findtext(f"{ATOM}id") for entry in atom.iter(f"{ATOM}entry")]
        texts = [entry.findtext(f"{ATOM}content") for entry in atom.iter(f"{ATOM}entry")]
        assert [item["id"] for item in feed["items"]] == ids
        assert [item["content_html"] for item in feed["items"]] == texts
        for item in feed["items"]:
            assert item["url"] == item["id"]
            assert item["title"]
            assert datetime.fromisoformat(item["date_published"]).utcoffset() is not None
            assert all(author["name"] for author in item["authors"])
            assert all(isinstance(tag, str) for tag in item["tags"])
            assert content_problems(site, item["content_html"]) == []


def feeds_of(site: Built) -> list[Path]:
    names = ("rss.xml", "atom.xml", "feed.json")
    return sorted(path for name in names for path in site.public.rglob(name))


def test_a_reader_library_reads_every_feed(site: Built) -> None:
    for path in feeds_of(site):
        if path.suffix == ".json":
            continue
        read = feedparser.parse(path.read_bytes())
        assert not read.bozo, f"{path}: {read.get('bozo_exception')}"
        assert read.version in ("rss20", "atom10")
        assert 1 <= len(read.entries) <= 30
        for entry in read.entries:
            assert entry.title
            assert entry.link.startswith(BASE_URL)
            assert entry.content[0].type == "text/html"
            assert "<p>" in entry.content[0].value
            assert entry.published_parsed is not None


def test_a_feed_has_reports_alone_and_an_entry_at_most_40_kb(site: Built) -> None:
    """Nothing else with a date, such as a night of counts, is an entry of the feed of reports."""
    for path in feeds_of(site):
        if path.suffix == ".json":
            sizes = [len(json.dumps(it)) for it in json.loads(path.read_text("utf-8"))["items"]]
        else:
            text = path.read_text("utf-8")
            entries = re.findall(r"<(item|entry)>(.*?)</\1>", text, re.DOTALL)
            sizes = [len(entry.encode()) for _, entry in entries]
        assert sizes
        assert max(sizes) <= 40 * 1024, path
    for name in ("rss.xml", "atom.xml"):
        links = [it.link for it in feedparser.parse(site.text(name)).entries]
        assert [link for link in links if not link.startswith(f"{BASE_URL}/perf/")] == []


def test_an_entry_was_updated_when_its_report_last_changed(site: Built, root: Path) -> None:
    pages = {page.id: page for page in read_pages(root)}
    for entry in feedparser.parse(site.text("atom.xml")).entries:
        report = pages[entry.link.rstrip("/").rpartition("/")[2]].first
        days = [report.date, *(change.date for change in report.history)]
        assert entry.updated[:10] == max(days).isoformat()
        assert entry.published[:10] == report.date.isoformat()


def test_reports_of_one_day_have_times_of_their_own(site: Built) -> None:
    for path in feeds_of(site):
        if path.suffix == ".xml":
            read = feedparser.parse(path.read_bytes())
            times = [entry.published_parsed for entry in read.entries]
            assert len(set(times)) == len(times)


def test_lists_feeds_and_neighbours_have_one_order_newest_first(site: Built, root: Path) -> None:
    pages = {page.id: page for page in read_pages(root)}
    dates = {name: moment(page.first.date, page.first.time) for name, page in pages.items()}
    expected = sorted(dates, key=lambda name: dates[name])[::-1]
    listed = re.findall(
        r'class="title" href="(?:[^"]*/)?perf/([^/"]+)/"|(id="others")',
        site.text("perf/index.html"),
    )
    names = [name for name, _ in listed]
    ours, others = (
        (names[: names.index("")], names[names.index("") + 1 :]) if "" in names else (names, [])
    )
    assert sorted([*ours, *others]) == sorted(expected)
    for shown in (ours, others):
        assert shown == [name for name in expected if name in shown]
    for path in feeds_of(site):
        text = path.read_text(encoding="utf-8")
        found = list(dict.fromkeys(re.findall(r"/perf/([^/\"<]+)/(?:</(?:guid|id)>|\",\n)", text)))
        assert found == [name for name in expected if name in found], path
    for later, name in pairwise(expected):
        [previous] = re.findall(
            r'rel="prev" href="(?:[^"]*/)?([^/"]+)/"', site.text(f"perf/{later}/index.html")
        )
        assert previous == name
    assert 'rel="next"' not in site.text(f"perf/{expected[0]}/index.html")


def test_an_entry_is_the_report_without_what_is_folded(site: Built) -> None:
    """Sentences, the picture as an image with a background and an alternative, and tables."""
    images = tables = 0
    for entry in feedparser.parse((site.public / "rss.xml").read_bytes()).entries:
        html = entry.content[0].value
        for gone in ("<svg", "<details", "<figure", "How it was measured</h2>"):
            assert gone not in html, entry.link
        assert f'href="{entry.link}"' in html
        tables += html.count("<table")
        for image in re.findall(r"<img [^>]*>", html):
            [source], [alt] = (re.findall(f' {name}="([^"]*)"', image) for name in ("src", "alt"))
            assert len(alt) > 40
            path = site.public / source.removeprefix(f"{BASE_URL}/")
            with Image.open(path) as picture:
                assert picture.convert("RGBA").getchannel("A").getextrema()[0] == 255
            images += 1
    assert images
    assert tables


def test_the_feed_of_a_library_has_its_reports(site: Built) -> None:
    everything = feedparser.parse((site.public / "rss.xml").read_bytes()).entries
    folders = [path for path in (site.public / "libraries").iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        entries = feedparser.parse((folder / "rss.xml").read_bytes()).entries
        assert all(folder.name in {tag.term for tag in entry.tags} for entry in entries)
        expected = {
            e.link for e in everything if folder.name in {t.term for t in e.get("tags", [])}
        }
        assert expected <= {entry.link for entry in entries}, folder


def test_the_page_of_feeds_leads_to_every_feed(site: Built) -> None:
    page = links_of(site.text("feeds/index.html"))
    linked = {
        (site.public / "feeds" / target).resolve()
        for target in page.targets
        if target.endswith((".xml", ".json"))
    }
    assert linked == set(feeds_of(site))
