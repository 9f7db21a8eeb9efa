"""Who gets to the pages: one browser, once, from its own pages; everybody else is refused before a page is made."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from hyperloci.config import Settings
from hyperloci.viewer.access import COOKIE, MAX_BODY_BYTES, ViewerKeys
from tests.support import FakeClock
from tests.viewer.conftest import Visit, visit_viewer

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stranger(settings: Settings, project: Path, clock: FakeClock) -> AsyncIterator[Visit]:
    async with visit_viewer(settings, project, clock) as visit:
        yield visit


async def test_the_token_admits_one_browser_and_is_good_no_more(stranger: Visit) -> None:
    entry = stranger.keys.entry_url
    answer = await stranger.client.get(entry)
    assert answer.status_code == 200
    assert (await stranger.client.get(f"{stranger.keys.root}/")).status_code == 200
    async with httpx2.AsyncClient(transport=stranger.client._transport, base_url=stranger.keys.origin) as thief:
        again = await thief.get(entry)
        assert again.status_code == 403
        assert "set-cookie" not in again.headers
        assert (await thief.get(f"{stranger.keys.root}/")).status_code == 403


async def test_a_wrong_token_admits_nobody_and_leaves_the_right_one_good(stranger: Visit) -> None:
    root = stranger.keys.root
    for said in ("", "x", stranger.keys.entry_url[-5:], "ünï"):
        assert (await stranger.client.get(f"{root}/enter", params={"token": said})).status_code == 403
    await stranger.enter()


async def test_only_a_get_takes_the_token_so_that_a_prefetch_with_head_does_not(stranger: Visit) -> None:
    assert (await stranger.client.head(stranger.keys.entry_url)).status_code == 403
    assert (await stranger.client.get(stranger.keys.entry_url)).status_code == 200


async def test_the_cookie_is_out_of_reach_of_scripts_other_sites_and_other_ports(stranger: Visit) -> None:
    cookie = (await stranger.client.get(stranger.keys.entry_url)).headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    # Cookies know no ports: a program that listens on another one is not sent what belongs to a path it can't guess.
    assert f"Path={stranger.keys.root}/" in cookie
    assert "expires" not in cookie.lower()


async def test_the_page_that_admits_leads_on_without_the_token(stranger: Visit) -> None:
    answer = await stranger.client.get(stranger.keys.entry_url)
    assert "token" not in answer.text
    assert f'content="0; url={stranger.keys.root}/"' in answer.text


@pytest.mark.parametrize("path", ["/", "/memory/x", "/assets/style.css", "/state"])
async def test_without_the_cookie_nothing_is_shown(stranger: Visit, path: str) -> None:
    answer = await stranger.client.get(f"{stranger.keys.root}{path}")
    assert answer.status_code == 403
    assert "html" not in answer.headers["content-type"]


@pytest.mark.parametrize("cookie", ["", "x", "hyperloci=", "hyperloci=wrong", "hyperloci=;;;=", 'hyperloci="\\777"'])
async def test_another_cookie_shows_nothing(stranger: Visit, cookie: str) -> None:
    answer = await stranger.client.get(f"{stranger.keys.root}/", headers={"cookie": cookie})
    assert answer.status_code == 403


@pytest.mark.parametrize("other", ["debug", "=1", "$x=1", "theme={'a': 1}", 'a="', "hyperloci=wrong", "version"])
async def test_a_cookie_of_another_program_of_this_machine_keeps_nobody_out(stranger: Visit, other: str) -> None:
    for shown in ("hyperloci={}; " + other, other + "; hyperloci={}"):
        cookie = shown.replace("{}", stranger.keys.cookie)
        answer = await stranger.client.get(f"{stranger.keys.root}/", headers={"cookie": cookie})
        assert answer.status_code == 200, cookie


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "localhost:8765", "127.0.0.1", "127.0.0.1:80", "[::1]:8765", ""]
)
async def test_a_name_that_was_bound_to_this_address_shows_nothing(stranger: Visit, host: str) -> None:
    await stranger.enter()
    answer = await stranger.client.get(f"{stranger.keys.root}/", headers={"host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize("path", ["/", "/memory/x", "/favicon.ico", "/wrong/", "/../", "//"])
async def test_outside_of_the_secret_path_there_is_nothing(stranger: Visit, path: str) -> None:
    await stranger.enter()
    assert (await stranger.client.get(f"{stranger.keys.origin}{path}")).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8765"},
        {"origin": "https://127.0.0.1:8765"},
        {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "cross-site"},
        {"origin": "http://127.0.0.1:8765", "sec-fetch-site": "same-site"},
    ],
)
async def test_a_change_from_elsewhere_is_refused(stranger: Visit, headers: dict[str, str]) -> None:
    await stranger.enter()
    sent = {"key": stranger.keys.form_key}
    answer = await stranger.client.post(f"{stranger.keys.root}/forget/x", data=sent, headers=headers)
    assert answer.status_code == 403


@pytest.mark.parametrize("sent", [{}, {"key": ""}, {"key": "wrong"}, {"key": "ü"}])
async def test_a_change_without_the_key_of_the_form_is_refused(stranger: Visit, sent: dict[str, str]) -> None:
    await stranger.enter()
    own = {"origin": stranger.keys.origin}
    answer = await stranger.client.post(f"{stranger.keys.root}/forget/x", data=sent, headers=own)
    assert answer.status_code == 400
    assert "another run" in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
async def test_other_methods_are_refused_and_no_other_origin_is_allowed_anything(stranger: Visit, method: str) -> None:
    await stranger.enter()
    answer = await stranger.client.request(
        method,
        f"{stranger.keys.root}/",
        headers={"origin": "http://evil.example", "access-control-request-method": "PUT"},
    )
    assert answer.status_code == 405
    assert not any(name.startswith("access-control") for name in answer.headers)


async def test_a_change_that_is_too_long_or_has_no_length_is_refused(stranger: Visit) -> None:
    await stranger.enter()
    own = {"origin": stranger.keys.origin, "content-type": "application/x-www-form-urlencoded"}
    long = await stranger.client.post(
        f"{stranger.keys.root}/forget/x", content=b"k" * (MAX_BODY_BYTES + 1), headers=own
    )
    assert long.status_code == 413

    async def pour() -> AsyncIterator[bytes]:
        yield b"key=x"

    endless = await stranger.client.post(f"{stranger.keys.root}/forget/x", content=pour(), headers=own)
    assert endless.status_code == 413


async def test_every_answer_forbids_what_no_page_needs(stranger: Visit) -> None:
    root = stranger.keys.root
    refused = await stranger.client.get(f"{root}/")
    entered = await stranger.client.get(stranger.keys.entry_url)
    shown = await stranger.client.get(f"{root}/")
    style = await stranger.client.get(f"{root}/assets/style.css")
    missing = await stranger.client.get(f"{root}/nothing")
    for answer in (refused, entered, shown, style, missing):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers


def test_keys_are_long_and_of_one_run() -> None:
    one, two = ViewerKeys(port=1), ViewerKeys(port=1)
    for name in ("root", "cookie", "form_key", "token"):
        assert len(getattr(one, name)) >= 22
        assert getattr(one, name) != getattr(two, name)
