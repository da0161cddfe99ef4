"""Which tests are nearest to a file: its own examples, then the test files that import or name what it defines."""

import ast
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Project"]

NOT_NEAREST = ("house", "docs", "mutation", "oracles")  # rules of style, pages, and support code


@dataclass(frozen=True, slots=True)
class Imports:
    """Dotted names that a file imports, and every attribute and name it mentions."""

    modules: frozenset[str]
    mentioned: frozenset[str]


@dataclass(frozen=True)
class Project:
    """A source package with its tests, and what each of their files imports."""

    root: Path
    package: Path
    tests: dict[Path, Imports] = field(default_factory=dict)
    sources: dict[Path, Imports] = field(default_factory=dict)

    @classmethod
    def read(cls, root: Path, package: Path) -> "Project":
        """Parses every file of the package and of ``tests``."""
        tests = {
            path: _imports(path)
            for path in sorted((root / "tests").rglob("test_*.py"))
            if path.relative_to(root / "tests").parts[0] not in NOT_NEAREST
        }
        return cls(root, package, tests, {path: _imports(path) for path in sorted(package.rglob("*.py"))})

    def nearest(self, file: Path) -> list[tuple[int, Path]]:
        """Distance and path of the tests to run first: 0 for the file's examples, 1 for its own tests, and so on."""
        module, folder = self._module(file), file.relative_to(self.package).parts[0]
        public = _public_names(file)
        dependents = {self._module(path) for path, found in self.sources.items() if module in found.modules}
        dependent_names = {
            name for path in self.sources if self._module(path) in dependents for name in _public_names(path)
        }
        ranked = [(0, file)]
        for path, found in self.tests.items():
            same = path.relative_to(self.root / "tests").parts[0] == folder
            if module in found.modules or (same and path.stem == f"test_{file.stem}"):
                ranked.append((1, path) if same else (3, path))
            elif public & found.mentioned and any(module.startswith(used.rpartition(".")[0]) for used in found.modules):
                ranked.append((2, path) if same else (4, path))
            elif same and (dependents & found.modules or dependent_names & found.mentioned):
                ranked.append((5, path))
        return sorted(ranked)

    def wider(self, file: Path, *, thorough: bool = False) -> list[Path]:
        """All tests and examples of the subpackage; ``thorough`` adds tests of subpackages that import the file."""
        folder = file.relative_to(self.package).parts[0]
        folders = {folder}
        if thorough:
            module = self._module(file)
            users = [path for path, found in self.sources.items() if module in found.modules]
            folders |= {path.relative_to(self.package).parts[0] for path in users} | {"examination"}
        tests = [path for path in self.tests if path.relative_to(self.root / "tests").parts[0] in folders]
        return tests + [path for path in self.sources if folder in path.relative_to(self.package).parts[:1]]

    def _module(self, file: Path) -> str:
        parts = (self.package.name, *file.relative_to(self.package).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path) -> Imports:
    modules: set[str] = set()
    mentioned: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                modules |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), names=names):
                modules |= {module, *(f"{module}.{alias.name}" for alias in names)}
                mentioned |= {alias.name for alias in names}
            case ast.Name(id=name) | ast.Attribute(attr=name):
                mentioned.add(name)
    return Imports(frozenset(modules), frozenset(mentioned))


def _public_names(path: Path) -> set[str]:
    """Functions and classes of a module's top level without a leading underscore."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {n.name for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("_")}
