"""Names of modules that code builds and hands on by a variable, a table, a call or a command: what they may load stays.

Each program ran with a module less before: nothing but the missing output told.
"""

from __future__ import annotations

import pytest

from tests.engine.program import prune, same_behaviour

HEAD = "import importlib\nimport os\nimport pkgutil\n\nPREFIX = 'app.tools'\nSEEN = []\n\n\n"
TOOLS = {
    "app/tools/__init__.py": "",
    "app/tools/second.py": "def main():\n    return 'second'\n",
    "app/tools/third.py": "def main():\n    return 'third'\n",
    "app/far/__init__.py": "",
    "app/far/away.py": "def main():\n    return 'away'\n",
}
LOADS = {
    "a percent sign with a name": "def load(n):\n    return importlib.import_module('app.tools.%(name)s' % {'name': n}).main()\n\n\ndef f():\n    return load('second'), load('third')\n",
    "from a package beside": "def load(n):\n    return importlib.import_module(f'..tools.{n}', 'app.far').main()\n\n\ndef f():\n    return load('second'), load('third')\n",
    "from a package beside, written out": "def f():\n    return importlib.import_module('..tools.second', 'app.far').main(), importlib.import_module('...tools.third', 'app.far.none').main()\n",
    "from a package beside, in a variable": "HERE = 'app.far'\n\n\ndef f(n='second'):\n    return importlib.import_module('..tools.' + n, package=HERE).main()\n",
    "a part that is empty": "def load(kind, n):\n    return importlib.import_module(f'app.tools.{kind}{n}').main()\n\n\ndef f():\n    return [load('', 'second'), load('th', 'ird')]\n",
    "an empty part before a name": "def load(kind=''):\n    return importlib.import_module(f'app.tools.{kind}second').main()\n\n\ndef f():\n    return load()\n",
    "an empty part in a text": "def path(kind=''):\n    return f'app.tools.{kind}third'\n\n\ndef f():\n    return importlib.import_module(path()).main()\n",
    "an empty part that is joined": "def f(kind=''):\n    return importlib.import_module('.'.join(['app', 'tools', kind + 'second'])).main()\n",
    "a slice of its own name": "def f():\n    return importlib.import_module(f'{__name__[:3]}.tools.{__name__[:0]}third').main()\n",
    "a slice that is handed on": "def load(n):\n    return importlib.import_module('app.tools.' + n[2:]).main()\n\n\ndef f():\n    return load('--third')\n",
    "a variable of the module": "for n in ('second', 'third'):\n    m = f'app.tools.{n}'\n    SEEN.append(importlib.import_module(m).main())\n\n\ndef f():\n    return SEEN\n",
    "a sum in a variable": "name = 'app.tools' + '.second'\nSEEN.append(importlib.import_module(name).main())\n\n\ndef f():\n    return SEEN\n",
    "a table": "TABLE = {n: f'app.tools.{n}' for n in ('second', 'third')}\n\n\ndef f():\n    return [importlib.import_module(TABLE[n]).main() for n in TABLE]\n",
    "a table of sums": "TABLE = {'s': PREFIX + '.second', 't': f'{PREFIX}.third'}\n\n\ndef f():\n    return [importlib.import_module(m).main() for m in TABLE.values()]\n",
    "an attribute": "class Load:\n    def __init__(self, n):\n        self.path = f'app.tools.{n}'\n\n    def go(self):\n        return importlib.import_module(self.path).main()\n\n\ndef f():\n    return [Load(n).go() for n in ('second', 'third')]\n",
    "what a function returns": "def name(n):\n    return f'app.tools.{n}'\n\n\ndef f():\n    return [importlib.import_module(name(n)).main() for n in ('second', 'third')]\n",
    "a property": "class Load:\n    def __init__(self, n):\n        self.n = n\n\n    @property\n    def path(self):\n        return 'app.tools.' + self.n\n\n\ndef f():\n    return importlib.import_module(Load('third').path).main()\n",
    "an argument": "def load(path):\n    return importlib.import_module(path).main()\n\n\ndef f():\n    return [load(f'app.tools.{n}') for n in ('second', 'third')]\n",
    "a global": "LAST = ''\n\n\ndef pick(n):\n    global LAST\n    LAST = f'app.tools.{n}'\n\n\ndef f():\n    pick('third')\n    return importlib.import_module(LAST).main()\n",
    "a base in a class": "class Load:\n    base = 'app.tools'\n\n    def go(self, n):\n        p = self.base + '.' + n\n        return importlib.import_module(p).main()\n\n\ndef f():\n    return [Load().go(n) for n in ('second', 'third')]\n",
    "map": "def f():\n    return [m.main() for m in map(importlib.import_module, ['app.tools.%s' % n for n in ('second', 'third')])]\n",
    "a format": "def f():\n    paths = ['app.tools.{}'.format(n) for n in ('second', 'third')]\n    return [importlib.import_module(p).main() for p in paths]\n",
    "module and attribute": "def f():\n    return [pkgutil.resolve_name(f'app.tools.{n}:main')() for n in ('second', 'third')]\n",
    "module and attribute with a dot": "def load(path):\n    m, _, c = path.rpartition('.')\n    return getattr(importlib.import_module(m), c)\n\n\ndef f():\n    return [load(f'app.tools.{n}.main')() for n in ('second', 'third')]\n",
}


@pytest.mark.parametrize("name", LOADS)
def test_what_a_built_name_may_load_stays(name: str) -> None:
    result = prune({"app/__init__.py": HEAD + LOADS[name], **TOOLS})
    same_behaviour(result, "import app\nRESULT = app.f()")
    assert "app/far/away.py" not in result.files


@pytest.mark.parametrize("built", ["f'{__name__}.{f[:-3]}'", "__name__ + '.' + f[:-3]"])
def test_a_package_that_loads_what_its_folder_holds(built: str) -> None:
    tools = f"import importlib\nimport os\n\nREGISTRY = []\n\n\ndef fill(names):\n    for f in sorted(names):\n        if f.endswith('.py') and not f.startswith('_'):\n            mod = {built}\n            importlib.import_module(mod)\n\n\nfill(['second.py', 'third.py'])\n"
    files = {
        **TOOLS,
        "app/__init__.py": "from app import tools\n\n\ndef f():\n    return tools.REGISTRY\n",
        "app/tools/__init__.py": tools,
        "app/tools/second.py": "from app import tools\n\ntools.REGISTRY.append('second')\n",
        "app/tools/third.py": "from app import tools\n\ntools.REGISTRY.append('third')\n",
    }
    same_behaviour(prune(files), "import app\nRESULT = app.f()")


COMMANDS = (
    "[sys.executable, '-m', f'app.tools.{n}']",
    "f'{sys.executable} -m app.tools.{n} --all'",
    "'python -m app.tools.%s --all' % n",
    "'python -m app.tools.{} --all'.format(n)",
    "'python -m app.tools.' + n",
    "[sys.executable, '-c', f'from app.tools.{n} import main; main()']",
    "f'{sys.executable} {HERE}/tools/{n}.py'",
    "f'{sys.executable} {HERE}/tools/{n}.py --all'",
    "f'{__package__}.tools.{n}'",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_built_command_may_run_stays(command: str) -> None:
    app = f"import os\nimport subprocess\nimport sys\n\nHERE = os.path.dirname(__file__)\n\n\ndef f(n):\n    return subprocess.run({command})\n"
    result = prune({"app/__init__.py": app, **TOOLS})
    assert {"app/tools/second.py", "app/tools/third.py"} <= result.files.keys()
    assert "app/far/away.py" not in result.files


OTHER = (
    "logging.getLogger(f'{__name__}.{n}')",
    "f'app.tools is {n}'",
    "f'{n}.app.tools.second'[:0] + f'see app.tools for {n}'",
)


@pytest.mark.parametrize("text", OTHER)
def test_texts_that_name_no_module_of_a_package_keep_none(text: str) -> None:
    result = prune(
        {
            "app/__init__.py": "from app import log\n\n\ndef f(n):\n    return log.f(n)\n",
            "app/log.py": f"import logging\n\n\ndef f(n):\n    return {text}\n",
            **TOOLS,
        }
    )
    assert "app/tools/third.py" not in result.files
