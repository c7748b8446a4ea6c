"""Workflows that execute and check the notebooks of a repository on every push and pull request.

Two jobs: `notebook-smoke` runs what somebody proposes, without a token that may write; `notebook-report` publishes what
ran on the default branch, and runs nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ...core.errors import BadInput, Conflict
from ...disk import check_writable, write_text

CiKind: TypeAlias = Literal["gitea", "github", "gitlab"]
NAME, JOB = "Notebook CI", "notebook-smoke"
_PATHS: dict[CiKind, str] = {
    "gitea": ".gitea/workflows/notebook-ci.yml",
    "github": ".github/workflows/notebook-ci.yml",
    "gitlab": ".gitlab-ci.yml",
}
_BESIDE = ".gitlab/notebook-ci.yml"
"""Where GitLab's goes if there is one already, which has to include it."""
_INSTALL = 'python -m pip install "quire[kernels,formats,html,forge]"'
_REQUIREMENTS = "if test -f requirements.txt; then python -m pip install --requirement requirements.txt; fi"
# A script beside its .ipynb is run once; a module without a cell, and a page without parameters, is no notebook.
_EXECUTE = r"""
mkdir -p runs/ci
failed=0
while IFS= read -r -d '' notebook; do
  case "$notebook" in
    *.ipynb) if test -e "${notebook%.ipynb}.py"; then continue; fi ;;
    *.py) grep -q '^# \{0,1\}%%' "$notebook" || continue ;;
    *.md) grep -q '^parameters:' "$notebook" || continue ;;
  esac
  name="${notebook#notebooks/}"
  quire run "$notebook" "runs/ci/$(printf %s "${name%.*}" | tr / -).ipynb" || failed=1
done < <(find notebooks -type f \( -name '*.py' -o -name '*.ipynb' -o -name '*.md' \) -not -path '*/.*' -print0 | sort -z)
exit "$failed"
"""
_REPORT = "find runs/ci -name '*.ipynb' -exec quire report {} +"
_WHO = {"NAME": "Notebook CI", "EMAIL": "notebook-ci@users.noreply.invalid"}


class WrittenWorkflow(msgspec.Struct, frozen=True, kw_only=True):
    """What was written."""

    path: str
    next_step: str


def write_workflow(kind: CiKind, top: Path, *, force: bool = False) -> WrittenWorkflow:
    """Write the workflow of a forge into a repository; Conflict where another file is in its place."""
    path, text = _PATHS[kind], workflow(kind)
    if kind == "gitlab" and (top / path).exists() and (top / path).read_text() != text:
        path = _BESIDE
    target = top / path
    if target.exists() and target.read_text() != text and not force:
        raise Conflict(
            f"{path} is there and says something else. Look at it, or replace it: quire ci init {kind} --force."
        )
    check_writable(target)
    write_text(target, text)
    return WrittenWorkflow(path=path, next_step=_next(kind, path))


def _next(kind: CiKind, path: str) -> str:
    if path == _BESIDE:
        return f"Include it: add `include: {{ local: {path} }}` to .gitlab-ci.yml, then commit and push both."
    token = {
        "gitea": "To publish reports, add a secret QUIRE_FORGE_TOKEN with a token that may write to the repository.",
        "github": "",
        "gitlab": "To publish reports, add a masked variable GITLAB_TOKEN with a token that may write to the repository.",
    }[kind]
    return f"Commit and push {path}. {token}".rstrip()


def workflow(kind: CiKind) -> str:
    """Return the text of a workflow."""
    match kind:
        case "gitea" | "github":
            return _actions(kind)
        case "gitlab":
            return _gitlab()
        case _:
            raise BadInput(f"There is no workflow for {kind!r}. Known: gitea, github, gitlab.")


def _actions(kind: Literal["gitea", "github"]) -> str:
    # Gitea's runner has the artifacts of version 3.
    artifact = "v4" if kind == "github" else "v3"
    token = "${{ github.token }}" if kind == "github" else "${{ secrets.QUIRE_FORGE_TOKEN }}"
    rights = "    permissions:\n      contents: {}\n"
    read, write = (rights.format(right) if kind == "github" else "" for right in ("read", "write"))
    return f"""\
# Written by `quire ci init {kind}`; yours to change.
name: {NAME}

on:
  push:
    branches-ignore: [reports]
  pull_request:

jobs:
  {JOB}:
    runs-on: ubuntu-latest
{read}    timeout-minutes: 60
    steps:
      - uses: actions/checkout@v4
        with:
          # What is proposed runs here: it gets no credentials.
          persist-credentials: false
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install
        run: |
          {_INSTALL}
          {_REQUIREMENTS}
      - name: Look at notebooks
        run: quire check --static notebooks
      - name: Execute notebooks
        shell: bash
        run: |
{_indented(_EXECUTE, 10)}
      - name: Check notebooks
        run: quire check notebooks
      - name: Keep the executed notebooks
        if: always()
        uses: actions/upload-artifact@{artifact}
        with:
          name: executed-notebooks
          path: runs/ci
          if-no-files-found: ignore

  notebook-report:
    needs: {JOB}
    # Also what failed on the default branch is worth a report.
    if: always() && github.event_name == 'push' && github.ref_name == github.event.repository.default_branch
    runs-on: ubuntu-latest
{write}    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
          persist-credentials: false
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install
        run: {_INSTALL}
      - uses: actions/download-artifact@{artifact}
        with:
          name: executed-notebooks
          path: runs/ci
      - name: Publish them on the branch reports
        env:
          QUIRE_FORGE: {kind}
          QUIRE_FORGE_TOKEN: {token}
{_who(10)}
        run: {_REPORT}
"""


def _gitlab() -> str:
    return f"""\
# Written by `quire ci init gitlab`; yours to change. {NAME}
{JOB}:
  image: python:3.12
  timeout: 60 minutes
  rules:
    - if: $CI_COMMIT_BRANCH == "reports"
      when: never
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH
  script:
    - {_INSTALL}
    - {_REQUIREMENTS}
    - quire check --static notebooks
    - |
{_indented(_EXECUTE.replace('exit "$failed"', 'test "$failed" = 0'), 6)}
    - quire check notebooks
  artifacts:
    when: always
    paths: [runs/ci]

notebook-report:
  image: python:3.12
  needs: [{{ job: {JOB}, artifacts: true }}]
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $GITLAB_TOKEN
      when: always
  variables:
    GIT_DEPTH: "0"
    QUIRE_FORGE: gitlab
{_who(4)}
  script:
    - {_INSTALL}
    - {_REPORT}
"""


def _who(indent: int) -> str:
    lines = (f'GIT_{role}_{what}: "{value}"' for role in ("AUTHOR", "COMMITTER") for what, value in _WHO.items())
    return "\n".join(f"{' ' * indent}{line}" for line in lines)


def _indented(script: str, indent: int) -> str:
    return "\n".join(f"{' ' * indent}{line}" for line in script.strip().splitlines())
