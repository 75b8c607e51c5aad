"""The page of the benchmarks and its drawings, which `Scripts/bench --publish` writes."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

from documents import ROOT

PAGE = ROOT / "Documentation" / "Benchmarks.md"
FOLDER = PAGE.with_suffix("")
VAULT_HEAD = ROOT / "Sources/Keychain/KeychainVaultFormat/Head/VaultHead.swift"
SVG = "{http://www.w3.org/2000/svg}"
PICTURE = re.compile(r"!\[([^\]]*)\]\((Benchmarks/[\w-]+\.svg)\)")


def charts() -> list[dict]:
  return json.loads((FOLDER / "results.json").read_text())["charts"]


def test_the_present_vault_format_was_measured_in_full():
  results = json.loads((FOLDER / "results.json").read_text())
  present = int(re.findall(r"static let format: UInt32 = (\d+)\n", VAULT_HEAD.read_text())[0])
  again = "publish the benchmarks again, by 'Scripts/bench --publish' on an idle machine"
  measured, is_quick = results.get("vaultFormat"), results["isQuick"]
  assert measured == present and not is_quick, again
  assert f"- **Measured:** prefs {results['version']}, vault format {present}\n" in PAGE.read_text()


def test_each_question_is_a_section_with_its_drawing():
  text = PAGE.read_text()
  pictures = PICTURE.findall(text)
  assert pictures and all(words for words, _ in pictures), "a picture has no words for those who don't see it"
  assert [path for _, path in pictures] == [f"Benchmarks/{chart['name']}.svg" for chart in charts()]
  for chart in charts():
    assert f"## {chart['question']}" in text


def test_no_drawing_is_left_over():
  assert {path.stem for path in FOLDER.glob("*.svg")} == {chart["name"] for chart in charts()}


def test_drawings_are_plain_and_legible_in_the_dark():
  for chart in charts():
    text = (FOLDER / f"{chart['name']}.svg").read_text()
    drawing = ElementTree.fromstring(text)
    assert drawing.get("role") == "img" and drawing.get("aria-labelledby") == "title description"
    assert drawing.findtext(f"{SVG}title") == chart["question"].replace("`", "")
    assert drawing.findtext(f"{SVG}desc")
    assert "prefers-color-scheme:dark" in text
    assert not [part for part in drawing.iter() if part.tag in (f"{SVG}script", f"{SVG}foreignObject")]
    assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), "it loads something"


def test_ours_is_first_and_misses_are_red():
  for chart in charts():
    drawing = ElementTree.parse(FOLDER / f"{chart['name']}.svg").getroot()
    kinds = [bar.get("class") for bar in drawing.iter(f"{SVG}rect")][1:]
    bars = [(group, bar) for group in chart["groups"] for bar in group["bars"]]
    assert len(kinds) == len(bars)
    assert all(group["bars"][0]["isOurs"] for group in chart["groups"])
    for kind, (group, bar) in zip(kinds, bars):
      values = {one["label"]: one["median"] for one in group["bars"]}
      if limit := group.get("limit"):
        values[limit["label"]] = limit["value"]
      one = values.get(chart["reference"])
      if "target" not in bar or one is None:
        assert kind == "plain", chart["name"]
      else:
        assert kind == ("met" if bar["median"] / one <= bar["target"] else "missed"), chart["name"]
