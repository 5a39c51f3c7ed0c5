"""The workflows are valid and do nothing but call the make targets; a release can't go past its checks."""

import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from .conftest import ROOT

yaml = pytest.importorskip("yaml")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(name: str):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def steps(job) -> list[str]:
    """What a job does, by names without versions."""
    return [step.get("run") or step["uses"].partition("@")[0] for step in job.get("steps", ())]


def test_they_fit_the_schema():
    pytest.importorskip("check_jsonschema")
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_they_call_make(path):
    commands = re.findall(r"run: (.*)", path.read_text(encoding="utf-8"))
    assert commands
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for command in commands:
        words = command.split()
        assert words[0] == "make"
        assert words[1] in targets
        assert "${{" not in command  # names of tags could hold commands: they go through the environment


def test_a_release():
    """Tested, checked, built, attested; then published by an identity that no other job has; then announced."""
    release = read(".github/workflows/release.yml")
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML takes `on` for a truth value
    jobs = release["jobs"]
    assert jobs["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert "workflow_call" in read(".github/workflows/tests.yml")[True]
    assert [jobs[name].get("needs") for name in ("build", "wheels", "publish", "announce")] == [
        "tests", "tests", ["build", "wheels"], "publish",
    ]  # fmt: skip
    assert steps(jobs["build"])[2:] == [
        "make release-check",
        "make dist",
        "actions/attest-build-provenance",
        "actions/upload-artifact",
    ]
    assert steps(jobs["wheels"])[1:] == [
        "pypa/cibuildwheel",
        "actions/attest-build-provenance",
        "actions/upload-artifact",
    ]
    assert steps(jobs["publish"]) == ["actions/download-artifact", "pypa/gh-action-pypi-publish"]
    assert jobs["publish"]["environment"] == "pypi"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert steps(jobs["announce"])[-1] == "make github-release"
    assert release["permissions"] == {"contents": "read"}


def test_wheels_for_platforms():
    """Of every Python that the metadata name, each tried after it was built, under a name that `publish` asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheels = project["tool"]["cibuildwheel"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["project"]["classifiers"]))
    assert wheels["build"] == [f"cp{version.replace('.', '')}-*" for version in named]
    assert (ROOT / wheels["test-command"].removeprefix("python {project}/")).is_file()
    jobs = read(".github/workflows/release.yml")["jobs"]
    assert all(jobs[name]["steps"][-1]["with"]["name"].startswith("dist-") for name in ("build", "wheels"))
    for name in ("publish", "announce"):
        (fetched,) = (s for s in jobs[name]["steps"] if s.get("uses", "").startswith("actions/download-artifact"))
        assert fetched["with"]["pattern"] == "dist-*" and fetched["with"]["merge-multiple"]


def test_the_book_has_its_address_before_it_is_built():
    ran = steps(read(".github/workflows/book.yml")["jobs"]["book"])
    assert ran.index("actions/configure-pages") < ran.index("make address") < ran.index("make book")


def test_readme_gets_the_addresses_once_the_book_is_published():
    """By a job that may write to the repository and does nothing else; never in a fork."""
    workflow = read(".github/workflows/book.yml")
    job = workflow["jobs"]["address"]
    assert steps(job) == ["actions/checkout", "make address", "make commit-address"]
    assert job["needs"] == "book" and "!github.event.repository.fork" in job["if"]
    assert job["permissions"] == {"contents": "write"} and workflow["permissions"]["contents"] == "read"
    assert set(job["steps"][1]["env"]) == {"ADDRESS", "PAGES"}


def test_the_addresses_are_committed_if_they_are_new(tmp_path):
    """In a clone of an empty repository: nothing to commit is no failure, and what changed is pushed."""
    if shutil.which("make") is None:
        pytest.skip("there is no make")

    def git(*words, folder=tmp_path / "clone"):
        done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
        return done.stdout

    def commit():
        subprocess.run(["make", "commit-address"], cwd=tmp_path / "clone", check=True, capture_output=True)
        return git("log", "--format=%s", "main", folder=tmp_path / "origin.git").splitlines()

    git("init", "--quiet", "--bare", "--initial-branch", "main", "origin.git", folder=tmp_path)
    git("clone", "--quiet", "origin.git", "clone", folder=tmp_path)
    shutil.copy(ROOT / "Makefile", tmp_path / "clone")
    git("checkout", "--quiet", "-b", "main")
    git("add", "Makefile")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "First")
    git("push", "--quiet", "--set-upstream", "origin", "main")
    assert commit() == ["First"]
    makefile = tmp_path / "clone" / "Makefile"
    makefile.write_text(makefile.read_text("utf-8") + "# changed\n", "utf-8")
    assert commit() == ["The addresses of the repository and the book", "First"]
    assert git("status", "--porcelain") == ""


def test_ci_runs_everything():
    ran = {step for job in read(".github/workflows/tests.yml")["jobs"].values() for step in steps(job)}
    assert {"make test-all PYTHON=python", "make chapters", "make test-backends", "make test-real"} <= ran


def test_the_environment_of_conda_and_binder():
    environment = read("environment.yml")
    (packages,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert packages == ["--constraint constraints.txt", "--editable .[chapters,test]"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"chapters", "test"} <= set(project["optional-dependencies"])
    (python,) = (entry for entry in environment["dependencies"] if str(entry).startswith("python="))
    assert project["requires-python"] == f">={python.removeprefix('python=')}"
