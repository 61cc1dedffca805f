"""Invitations: an address, a code that cameras read, and a warning where the address is of no use to others."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from qrcodegen import QrCode, QrSegment

from tests.web.e2e.table import TableDriver

pytestmark = pytest.mark.xdist_group("e2e")

CODE = 'async (texts) => { const { qrCode } = await import("/static/js/qr.js"); return texts.map(qrCode); }'


def test_codes_are_those_of_another_encoder(page: Page) -> None:
    """Of every length up to the longest: all versions, whatever mask was taken."""
    texts = [("https://tapete.example/t/" * 9)[:length] for length in range(1, 214, 4)] + ["ñandú", "x" * 213]
    page.goto("/")
    codes = page.evaluate(CODE, texts)
    for text, code in zip(texts, codes, strict=True):
        bytes_ = QrSegment.make_bytes(text.encode())
        version, mask = code["version"], code["mask"]
        expected = QrCode.encode_segments([bytes_], QrCode.Ecc.MEDIUM, version, version, mask, boostecl=False)
        size = expected.get_size()
        assert code["rows"] == [[int(expected.get_module(x, y)) for x in range(size)] for y in range(size)], text
        assert version == QrCode.encode_segments([bytes_], QrCode.Ecc.MEDIUM, boostecl=False).get_version()
    assert {code["version"] for code in codes} == set(range(1, 11))
    assert len({code["mask"] for code in codes}) > 3
    assert page.evaluate(CODE, ["x" * 214]) == [None]


def test_an_invitation_is_shown_and_warns_where_it_works_here_only(page: Page) -> None:
    table = TableDriver(page)
    table.sit("kuhn", ["me", "open"])
    page.get_by_role("button", name="Invite").click()
    field = page.get_by_label("Address of the table")
    expect(page.get_by_role("img", name="The address as a QR code")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="this machine only")).to_be_visible()
    address = field.input_value()
    assert address.startswith(page.url.split("?")[0] + "?invite=")
    shown = page.evaluate("document.querySelector('.qr path').getAttribute('d')")
    rows = page.evaluate(CODE, [address])[0]["rows"]
    squares = [f"M{x + 4} {y + 4}h1v1h-1z" for y, row in enumerate(rows) for x, dark in enumerate(row) if dark]
    assert shown == "".join(squares)


def test_only_addresses_of_this_machine_are_warned_of(page: Page) -> None:
    page.goto("/")
    hosts = ["localhost", "127.0.0.1", "127.0.0.9", "[::1]", "192.168.1.4", "play.example.org", "127.example.org"]
    found = page.evaluate(
        'async (hosts) => { const { isHere } = await import("/static/js/invitation.js"); return hosts.map(isHere); }',
        hosts,
    )
    assert found == [True, True, True, True, False, False, False]
