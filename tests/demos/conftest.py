"""A server for each story, as tests of the web app have it."""

from ..web.conftest import app, browser, built

__all__ = ["app", "browser", "built"]
