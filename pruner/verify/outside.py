"""Which functions of Python and of well-known packages do nothing but compute.

A list, not an analysis: rules add to it with ``pure``. What is not here has an effect.
"""

from __future__ import annotations

import ast

PURE_NAMES = frozenset(
    "len isinstance issubclass hasattr getattr callable bool int float complex str bytes bytearray tuple list dict set "
    "frozenset min max sum any all abs round repr ord chr hash id range zip enumerate sorted reversed type object map "
    "filter divmod pow iter slice property staticmethod classmethod super vars dir format "
    "os.getenv os.environ.get os.cpu_count os.getpid os.fspath sys.getsizeof sys.intern logging.getLogger "
    "importlib.util.find_spec importlib.metadata.version shutil.which pathlib.Path threading.Lock threading.RLock "
    "threading.Event threading.local contextvars.ContextVar string.Template time.time time.perf_counter time.monotonic "
    # torch.cuda.get_device_capability and its like are not here: they start CUDA in the process.
    "torch.device torch.finfo torch.iinfo torch.cuda.is_available torch.cuda.device_count "
    "torch.get_default_dtype torch.Size torch.compile "
    "packaging.version.parse packaging.version.Version version.parse zoneinfo.ZoneInfo uuid.UUID decimal.Decimal".split()
)
PURE_PREFIXES = tuple(
    "os.path. math. re. typing. typing_extensions. functools. dataclasses. collections. itertools. operator. enum. abc. "
    "types. inspect. platform. numpy. copy. json.loads json.dumps fractions. datetime. triton.cdiv triton.next_power_of_2 "
    "torch.version. torch.jit. triton.jit triton.autotune triton.heuristics triton.Config weakref. "
    "asyncio.Lock asyncio.Event asyncio.Queue contextlib. pydantic.Field pydantic.ConfigDict msgspec.field".split()
)
PURE_METHODS = frozenset(
    "get keys values items lower upper strip lstrip rstrip split rsplit splitlines startswith endswith join format replace "
    "count index find encode decode hex bit_length copy partition rpartition title isdigit isidentifier dim size numel "
    "removeprefix removesuffix element_size stride data_ptr is_set __len__ __contains__".split()
)
# In the lists above, and yet they call what they are given or change it: `list(map(LOG.append, rows))`.
CALLING = frozenset("map filter functools.reduce".split())
CHANGING = tuple(
    "functools.update_wrapper operator.setitem operator.delitem operator.iadd operator.iand operator.ic operator.if "
    "operator.il operator.im operator.io operator.ip operator.ir operator.isub operator.itr operator.ix operator.__i operator.methodcaller weakref.finalize "
    "numpy.random. numpy.put numpy.copyto numpy.save numpy.set numpy.place numpy.fill_diagonal numpy.testing. numpy.memmap numpy.lib.format enum.global_enum "
    "torch.jit.save torch.jit.set torch.jit.enable torch.jit.fork torch.jit.wait types.new_class "
    "operator.call abc.update_abstractmethods collections.abc.MutableMapping re.purge copy.copyreg".split()
)
KEYED = frozenset("sorted min max".split())  # ... with `key=`
ARGUMENTS = {"get": (1, 2), "join": (1, 1)}  # `queue.get()` and `thread.join()` are no dict's and no string's


# What a decorator from outside may be when the decorated function is to go: it gives the function back, wrapped.
DECORATORS = tuple(
    "functools. staticmethod classmethod property contextlib. dataclasses. typing. typing_extensions. abc. enum. "
    "torch.jit. torch.compile torch.no_grad torch.inference_mode torch.compiler. torch._dynamo. torch.cuda.amp. "
    "torch.autocast triton. numba. cached_property unittest. pytest. final override tilelang.jit tl.jit "
    "cutlass.cute. cute. pydantic. typeguard. nvtx. torch.autograd. cuda.".split()
)
# Of those, what makes no note in the function for a class, or its metaclass, to find: pydantic calls what it decorates.
KEEPING_NOTHING = tuple(name for name in DECORATORS if name != "pydantic.")
MUTATORS = frozenset(
    "append add update setdefault insert extend register register_module register_buffer subscribe connect "
    "register_fake impl define".split()
)


def pure_constructor(node: ast.expr) -> bool:
    """``X = SomeClass(…)`` at module level: by convention a constructor that only makes its object.

    ``_lib = Library("ns", "FRAGMENT")`` is the known exception: the object lives on elsewhere.
    """
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name[:1].isupper() and name not in ("Library", "Thread", "Process", "Popen")
