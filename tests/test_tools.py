"""What a maintainer runs: the address written everywhere and taken out again, what a release needs, what is built."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest

from bpelab import native

from .conftest import ROOT, load_script

ADDRESS, PAGES = "https://github.com/somebody/bpelab", "https://somebody.github.io/bpelab"
NAMES = ["_config.yml", "pyproject.toml", "CITATION.cff", "README.md", "book/index.md", "CHANGELOG.md"]
NAMES += ["bpelab/__init__.py", "bpelab/_support/install.py"]
NOTEBOOKS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "book").glob("*.ipynb"))


def tool(name: str):
    return load_script(ROOT / "tools" / f"{name}.py")


@pytest.fixture
def copy(tmp_path):
    """A copy of the files that the tools read and write, without an address."""
    for name in [*NAMES, *NOTEBOOKS]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    tool("set_repository").write(tmp_path, "")
    return tmp_path


def read(folder, names=(*NAMES, *NOTEBOOKS)):
    return {name: (folder / name).read_bytes() for name in names}


class TestTheAddress:
    def test_is_written_everywhere(self, copy):
        yaml = pytest.importorskip("yaml")
        changed = tool("set_repository").write(copy, ADDRESS + "/")
        assert changed == ["_config.yml", "pyproject.toml", "CITATION.cff", "README.md", "book/index.md", *NOTEBOOKS]
        config = yaml.safe_load((copy / "_config.yml").read_text(encoding="utf-8"))
        assert config["repository"]["url"] == ADDRESS
        assert config["html"]["use_issues_button"] is config["html"]["use_repository_button"] is True
        citation = yaml.safe_load((copy / "CITATION.cff").read_text(encoding="utf-8"))
        assert (citation["repository-code"], citation["authors"]) == (ADDRESS, [{"name": "the bpelab authors"}])
        project = tomllib.loads((copy / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert project["urls"] == {"Repository": ADDRESS} and "chat" in project["optional-dependencies"]
        for page in ("README.md", "book/index.md"):
            assert f"`git clone {ADDRESS}`" in (copy / page).read_text(encoding="utf-8")

    def test_of_the_book_is_where_one_can_type(self, copy):
        """It stays while the repository's is written again, and goes with it."""
        write, before = tool("set_repository").write, read(copy)
        assert {"_config.yml", "README.md"} <= set(write(copy, ADDRESS, PAGES + "/"))
        assert write(copy, ADDRESS) == write(copy, None) == []
        assert f"**Type here: <{PAGES}>**" in (copy / "README.md").read_text(encoding="utf-8")
        assert f'  baseurl: "{PAGES}" #' in (copy / "_config.yml").read_text(encoding="utf-8")
        assert write(copy, ADDRESS, "") == ["_config.yml", "README.md"]
        write(copy, ADDRESS, PAGES)
        write(copy, "")
        assert read(copy) == before
        assert "`make serve`" in before["README.md"].decode().partition("## Type here")[2].partition("\n## ")[0]

    @pytest.mark.parametrize("wrong", ["somebody.github.io", "ftp://x/book", "https://x/> [a", "https://x/a b"])
    def test_of_the_book_has_to_be_one(self, wrong, copy):
        before = read(copy)
        with pytest.raises(ValueError, match="https://HOST/NAME"):
            tool("set_repository").write(copy, ADDRESS, wrong)
        assert read(copy) == before

    def test_make_takes_both(self, copy):
        """As the workflow hands them over; PAGES may be empty, or not there at all."""
        if shutil.which("make") is None:
            pytest.skip("there is no make")
        for name in ("Makefile", "tools/set_repository.py"):
            (copy / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        for given in {"ADDRESS": ADDRESS, "PAGES": PAGES}, {"ADDRESS": ADDRESS}, {}, {"ADDRESS": ADDRESS, "PAGES": ""}:
            env = {name: value for name, value in os.environ.items() if name not in ("ADDRESS", "PAGES")} | given
            words = ["make", "address", f"PYTHON={sys.executable}"]
            subprocess.run(words, cwd=copy, env=env, check=True, capture_output=True)
            assert (PAGES.encode() in read(copy, ["README.md"])["README.md"]) == ("" not in given.values())

    @pytest.mark.parametrize("name", NOTEBOOKS)
    def test_is_in_the_first_cell_and_changes_no_other(self, name, copy):
        before = json.loads((copy / name).read_text(encoding="utf-8"))
        tool("set_repository").write(copy, ADDRESS)
        after = json.loads((copy / name).read_text(encoding="utf-8"))
        first = next(cell for cell in after["cells"] if cell["cell_type"] == "code")
        line = f"""get_ipython().run_line_magic("pip", 'install --quiet "bpelab[chapters] @ git+{ADDRESS}"')"""
        assert line in "".join(first["source"])
        first["source"] = next(cell for cell in before["cells"] if cell["cell_type"] == "code")["source"]
        assert before == after

    def test_is_changed_and_taken_out(self, copy):
        before, write = read(copy), tool("set_repository").write
        write(copy, ADDRESS)
        with_one = read(copy)
        assert write(copy, ADDRESS) == write(copy, None) == []
        write(copy, "https://git.example/group/team/bpelab.git")
        write(copy, ADDRESS)
        assert read(copy) == with_one
        write(copy, "")
        assert read(copy) == before

    def test_of_the_configuration_is_the_one_everywhere(self, tmp_path):
        """In the project as it is: nothing is left to write."""
        for name in [*NAMES, *NOTEBOOKS]:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
        assert tool("set_repository").write(tmp_path, None) == []

    @pytest.mark.parametrize(
        "wrong", ["bpelab", "github.com/a/b", "http://github.com/a/b", "https://x/a", 'https://x/a/"']
    )
    def test_has_to_be_one(self, wrong, copy):
        before = read(copy)
        with pytest.raises(ValueError, match="https://HOST/OWNER/NAME"):
            tool("set_repository").write(copy, wrong)
        assert read(copy) == before


class TestARelease:
    @pytest.fixture
    def ready(self, copy):
        """The sources of a release 9.8.7."""
        tool("set_repository").write(copy, ADDRESS)
        (copy / "bpelab" / "__init__.py").write_text('__version__ = "9.8.7"\n', encoding="utf-8")
        citation = (copy / "CITATION.cff").read_text(encoding="utf-8").replace("version: 0.1.0", "version: 9.8.7")
        (copy / "CITATION.cff").write_text(citation, encoding="utf-8")
        (copy / "bpelab" / "_support" / "install.py").write_text("PUBLISHED = True\n", encoding="utf-8")
        log = "# Changelog\n\n## 9.8.7 (2030-01-31)\n\n- This.\n- That.\n\n## 9.8.6 (2029-01-31)\n\n- Before.\n"
        (copy / "CHANGELOG.md").write_text(log, encoding="utf-8")
        return copy

    def test_that_is_ready(self, ready):
        release = tool("release")
        assert release.problems(ready, "v9.8.7") == []
        assert release.notes(ready, "9.8.7") == "- This.\n- That."
        assert release.notes(ready, "9.8.6") == "- Before."

    @pytest.mark.parametrize(
        "name, before, after, problem",
        [
            ("bpelab/__init__.py", "9.8.7", "9.8.8", "the tag is 'v9.8.7', but bpelab.__version__ is '9.8.8'"),
            ("CITATION.cff", "version: 9.8.7", "version: 9.8.6", "CITATION.cff says version 9.8.6: make it 9.8.7"),
            ("CHANGELOG.md", "(2030-01-31)", "(unreleased)", 'no heading "## 9.8.7 (YYYY-MM-DD)"'),
            ("bpelab/_support/install.py", "True", "False", "PUBLISHED in bpelab/_support/install.py is not True"),
            ("pyproject.toml", ADDRESS, "", "does not know its repository"),
        ],
    )
    def test_that_is_not(self, name, before, after, problem, ready):
        text = (ready / name).read_text(encoding="utf-8")
        (ready / name).write_text(text.replace(before, after), encoding="utf-8")
        assert any(problem in found for found in tool("release").problems(ready, "v9.8.7"))

    def test_is_refused_with_a_sentence_for_each_reason(self):
        words = [sys.executable, ROOT / "tools" / "release.py", "check", "v0"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and done.stderr.startswith("the tag is 'v0', but bpelab.__version__ is ")


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """What `make dist` builds, from a copy, since building leaves folders there."""
    pytest.importorskip("build")
    source, dist = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    shutil.copytree(ROOT / "bpelab", source / "bpelab", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copytree(ROOT / "tests", source / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, source)
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, source]
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, "BPELAB_NO_EXTENSION": "1"})
    if native.extension() is not None:
        built = {**os.environ, "BPELAB_NO_EXTENSION": "0"}
        subprocess.run([*words, "--wheel"], check=True, capture_output=True, env=built)
    return dist


@pytest.mark.slow
class TestWhatIsBuilt:
    def test_works_in_an_empty_environment(self, dist):
        """Without its dependencies, which the standard library stands in for: no network is needed."""
        words = [sys.executable, ROOT / "tools" / "check_dist.py", dist, "--no-deps"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "the wheel works" in done.stdout, done.stderr
        wheels = [wheel.name for wheel in dist.glob("*.whl")]
        assert len(wheels) == 1 + (native.extension() is not None) and all(name in done.stdout for name in wheels)

    def test_a_wheel_for_a_platform_has_c(self, dist, tmp_path):
        (pure,) = dist.glob("*-none-any.whl")
        named = shutil.copy(pure, tmp_path / "bpelab-0.1.0-cp311-cp311-linux_x86_64.whl")
        with pytest.raises(AssertionError, match=r"lacks \['native/_core\.c'\]"):
            tool("check_dist").check_wheel(named)

    def test_and_what_is_amiss_is_found(self, dist, tmp_path):
        check = tool("check_dist")
        (wheel,), (sdist,) = dist.glob("*-none-any.whl"), dist.glob("*.tar.gz")
        shutil.copy(sdist, tmp_path)
        with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(tmp_path / wheel.name, "w") as part:
            for name in whole.namelist():
                if name != "bpelab/py.typed":
                    part.writestr(name, whole.read(name))
        with pytest.raises(AssertionError, match=r"lacks \['py\.typed'\]"):
            check.check_archives(tmp_path)
        with zipfile.ZipFile(shutil.copy(wheel, tmp_path), "a") as more:
            more.writestr("tests/test_it.py", "")
        with pytest.raises(AssertionError, match=r"would install \['tests/test_it\.py'\]"):
            check.check_archives(tmp_path)

    def test_the_sources_build_it_again(self, dist):
        (sdist,) = dist.glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            names = {name.partition("/")[2].partition("/")[0] for name in archive.getnames()}
        assert {"bpelab", "pyproject.toml", "setup.py", "README.md", "LICENSE"} <= names
        assert not names & {"tests", "book"}
