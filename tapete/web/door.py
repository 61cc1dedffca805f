"""Who is let in.

A browser is known by a random token in a cookie; the store has its hash. Whatever changes something must come from a
page of this very server: the Origin of a request has to be its Host, and the Host one that is ours. That goes for
tokens too: the page asks for one. A page that is opened by a link elsewhere is asked for without the cookie, and a
token that came with it would take the place of the one that the browser has.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from tapete.web.limits import Meter, Who, address_of

COOKIE = "tapete"
YEAR = 365 * 24 * 3600  # seconds
HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "object-src 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def who_is(connection: HTTPConnection, owner: str = "") -> Who:
    """Somebody, by his address and his browser."""
    return Who(address_of(connection.client.host if connection.client else ""), owner)


class Shield:
    """Refuses what comes for another host, from another site, or too often; the same headers go out with everything."""

    def __init__(self, app: ASGIApp, names: frozenset[str], requests: Meter) -> None:
        self.app = app
        self.names = names
        self.requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Looks at a request before anybody else does."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in HEADERS.items():
                    headers[name] = value
                if "cache-control" not in headers:
                    headers["cache-control"] = "no-cache" if scope["path"].startswith("/static") else "no-store"
                message["headers"] = headers.raw
            await send(message)

        status, wrong = 403, self._wrong(scope)
        if not wrong and not self.requests.take(who_is(HTTPConnection(scope))):
            status, wrong = 429, "too many requests"
        if wrong:
            refusal: ASGIApp = PlainTextResponse(f"{wrong}\n", status) if scope["type"] == "http" else _close
            await refusal(scope, receive, send_guarded)
        else:
            await self.app(scope, receive, send_guarded)

    def _wrong(self, scope: Scope) -> str:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not is_ours(host, self.names):
            return "this is not the host that was asked for"
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if (origin is None and changes) or (origin is not None and not is_same(origin, host)):
            return "this comes from another site"
        if scope["path"].startswith("/api/") and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return "this comes from another site"
        return ""


async def _close(scope: Scope, receive: Receive, send: Send) -> None:
    await WebSocket(scope, receive, send).close()


def is_ours(host: str, names: frozenset[str]) -> bool:
    """Whether a Host is an address or one of our names: others might have been pointed at us by somebody's DNS."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        if name in names:
            return True
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_same(origin: str, host: str) -> bool:
    """Whether a page of that origin was served under that host."""
    scheme, _, rest = origin.partition("://")
    return scheme in ("http", "https") and rest.lower() == host.lower()


class Doorman:
    """Tokens of browsers: made here, and known again by their signature, so that nothing is kept of visitors."""

    def __init__(self, secret: bytes) -> None:
        self.secret = secret

    def issue(self) -> str:
        """A new token."""
        word = secrets.token_urlsafe(24)
        return f"{word}.{self._sign(word)}"

    def owner(self, connection: HTTPConnection) -> str:
        """Whose browser this is, as the store knows it; empty where there is no token, or none of ours."""
        token = connection.cookies.get(COOKIE, "")
        word, _, signature = token.partition(".")
        if not hmac.compare_digest(signature.encode(), self._sign(word).encode()):
            return ""
        return hashlib.sha256(token.encode()).hexdigest()

    def _sign(self, word: str) -> str:
        return hmac.new(self.secret, word.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def welcome(self, request: Request, response: Response) -> Response:
        """Gives a token to a browser that has none, and the same one for another year to one that has."""
        token = request.cookies[COOKIE] if self.owner(request) else self.issue()
        response.set_cookie(
            COOKIE,
            token,
            max_age=YEAR,
            path="/",
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response
