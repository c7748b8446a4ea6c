"""`quire reproduce`, as a person types it: real kernels, with what is around them changed in between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import quire

from ...command import as_json, run
from ...kernels.test_packages import package

STUDY = """\
# %% tags=["parameters"]
scale = 2

# %% name="declares"
# /// script
# [tool.quire]
# inputs = ["data/*.csv"]
# ///
import os, random, sys, time, warnings
from pathlib import Path
from quire.kernel import result

# %% name="steady"
class Model: pass
print(Model(), "printed")
print("said", file=sys.stderr)
warnings.warn("careful")
result("fixed", 1)
Model()

# %% name="package"
import quire_test_demo
result("answer", quire_test_demo.ANSWER * scale)

# %% name="seed"
random.seed(os.environ.get("SEED"))
result("draw", random.random())

# %% name="file"
print(Path("data/sales.csv").read_text(), end="")

# %% name="clock"
if "STOPPED" not in os.environ: print(time.time_ns())

# %% name="raises" tags=["raises-exception"]
raise ValueError(f"always {Model()}")
"""


def install(folder: Path, version: str) -> None:
    """Put a package of our own where the kernel imports from, as pip would: the old one goes."""
    for old in folder.glob("*.dist-info"):
        (old / "METADATA").unlink()
        old.rmdir()
    package(folder, "Quire_Test.Demo", version)
    (folder / "quire_test_demo.py").write_text(f"ANSWER = {version.partition('.')[0]}\n")


class Study:
    """A folder with a notebook, a package and a file, and a run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lib = folder, folder / "lib"
        (folder / "data").mkdir()
        (folder / "data" / "sales.csv").write_text("Bern,12\n")
        (folder / "study.py").write_text(STUDY)
        install(self.lib, "1.0")
        # What is compiled would stand for what is written within the same second.
        self.env = {"PYTHONPATH": str(self.lib), "PYTHONDONTWRITEBYTECODE": "1", "SEED": "1", "STOPPED": "yes"}
        self.recorded: str = as_json("run", "study.py", at=folder, env=self.env)["run"]

    def reproduce(self, *args: str, without: str = "") -> tuple[int, Any]:
        env = {name: value for name, value in self.env.items() if name != without}
        done = run("reproduce", *args, "--json", at=self.folder, env=env)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return Study(tmp_path_factory.mktemp("study"))


def labels(found: Any) -> list[str]:
    return [cell["label"] for cell in found["cells"] if not cell["same"]]


def differing(pairs: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (pair.get("a"), pair.get("b")) for name, pair in pairs.items() if not pair["same"]}


def test_a_run_that_is_deterministic_is_the_same_again(study: Study) -> None:
    """Addresses of objects, numbers of cells and names of temporary files are others, and do not count."""
    done = run("reproduce", study.recorded[:12], at=study.folder, env=study.env)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "the same: 8 cells and 3 results"), done.stdout
    assert "around it: nothing changed that is recorded" in done.stdout
    assert "8/8" in done.stderr
    made = as_json("runs", "list", "-n", "1", at=study.folder)[0]["run"]
    record = as_json("runs", "show", made, at=study.folder)
    assert (record["reproduces"], record["resumed"], record["source"]["path"]) == (study.recorded, None, "study.py")
    asked = f"SELECT reproduces FROM runs WHERE run = '{made}'"
    assert as_json("sql", asked, at=study.folder) == [{"reproduces": study.recorded}]


def test_each_cell_and_result_that_differs_is_named_with_what_changed_around_it(study: Study) -> None:
    install(study.lib, "2.0")
    (study.folder / "data" / "sales.csv").write_text("Bern,13\n")
    study.env["SEED"] = "2"
    try:
        status, found = study.reproduce(study.recorded, without="STOPPED")
        text = run("runs", "diff", study.recorded, found["reproduction"], at=study.folder).stdout
    finally:
        install(study.lib, "1.0")
        (study.folder / "data" / "sales.csv").write_text("Bern,12\n")
        study.env["SEED"] = "1"
    assert (status, found["same"]) == (1, False)
    assert labels(found) == ["package", "seed", "file", "clock"]
    assert list(differing(found["results"])) == ["answer", "draw"]
    assert differing(found["results"])["answer"] == (2, 4)
    around = found["around"]
    assert differing(around["packages"]) == {"quire-test-demo": ("1.0", "2.0")}
    assert list(differing(around["inputs"])) == ["data/sales.csv"]
    assert (around["source"], around["source_file"], differing(around["parameters"])) == ([], "same", {})
    by_label = {cell["label"]: cell["differences"] for cell in found["cells"]}
    assert by_label["file"] == [{"part": "stdout", "number": 1, "a": "Bern,12", "b": "Bern,13"}]
    assert by_label["clock"][0]["part"] == "stdout"
    assert "packages: 1 difference" in text and "quire-test-demo" in text


def test_another_source_and_other_parameters_are_told(study: Study) -> None:
    (study.folder / "study.py").write_text(STUDY.replace('result("fixed", 1)', 'result("fixed", 2)'))
    try:
        status, found = study.reproduce(study.recorded)
        assert (status, found["around"]["source_file"]) == (
            0,
            "changed",
        )  # what was recorded ran, not what is there now
        status, found = study.reproduce(study.recorded, "--with-current-source", "-p", "scale=5")
    finally:
        (study.folder / "study.py").write_text(STUDY)
    assert status == 1
    assert labels(found)[-2:] == ["steady", "package"]
    assert differing(found["results"]) == {"answer": (2, 5), "fixed": (1, 2)}
    assert differing(found["around"]["parameters"]) == {"scale": (None, 5)}
    assert "source_edited" in [each["type"] for each in found["around"]["source"]]


def test_python_has_the_same(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in study.env.items():
        monkeypatch.setenv(name, value)
    found = quire.reproduce(study.recorded, at=study.folder)
    assert found and found.outcome.status == "success"
    assert found.differing_cells == [] and found.around.changed == []


# ---- The record


def test_the_record_has_packages_revision_and_files_and_no_place_of_the_machine(study: Study) -> None:
    record = as_json("runs", "show", study.recorded, at=study.folder)
    assert record["packages"]["quire-test-demo"] == "1.0"
    assert record["packages"]["ipykernel"]
    assert [each["path"] for each in record["inputs"]] == ["data/sales.csv"]
    assert record["environment"]["python"].startswith("3.")
    log = as_json("log", study.recorded, at=study.folder)
    (said,) = [each["event"] for each in log if each["event"]["type"] == "environment_recorded"]
    assert str(study.folder) not in json.dumps(said)
    lines = run("runs", "show", study.recorded, "--packages", at=study.folder).stdout.splitlines()
    assert "quire-test-demo==1.0" in lines
    asked = (
        "SELECT p.version, r.dirty, (SELECT count(*) FROM inputs i WHERE i.log = r.run) AS files FROM runs r JOIN packages p"
        f" ON p.environment = r.packages WHERE p.name = 'quire-test-demo' AND r.run = '{study.recorded}'"
    )
    assert as_json("sql", asked, at=study.folder) == [{"version": "1.0", "dirty": None, "files": 1}]


def test_a_package_that_a_cell_installs_is_in_the_record_and_the_revision_as_it_was(tmp_path: Path) -> None:
    from quire.git.repository import git

    install(tmp_path / "lib", "1.0")
    (tmp_path / "note.py").write_text(
        "# %%\nfrom pathlib import Path\np = Path('lib/later-3.0.dist-info')\np.mkdir()\n"
        "(p / 'METADATA').write_text('Name: later\\nVersion: 3.0\\n')\nPath('note.py').write_text('x')\n"
    )
    git("init", "-q", at=tmp_path)
    git("add", "note.py", at=tmp_path)
    git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "note", at=tmp_path)
    env = {"PYTHONPATH": str(tmp_path / "lib")}
    log: str = as_json("run", "note.py", at=tmp_path, env=env)["run"]
    record = as_json("runs", "show", log, at=tmp_path)
    assert record["packages"]["later"] == "3.0"
    assert record["packages"]["quire-test-demo"] == "1.0"
    assert record["revision"]["commit"] == git("rev-parse", "HEAD", at=tmp_path)


def test_a_run_that_cannot_be_repeated_is_refused_with_the_reason(study: Study, tmp_path: Path) -> None:
    done = run("reproduce", "no-such-run", at=study.folder)
    assert (done.returncode, done.stdout) == (2, "")
    (tmp_path / "note.py").write_text("# %%\n1\n# /// script\n# [tool.quire]\n# inputs = ['gone.csv']\n# ///\n")
    done = run("run", "note.py", at=tmp_path)
    assert done.returncode == 2
    assert "note.py: `inputs` names 'gone.csv', which is not in" in done.stderr
