"""What outsiders see of a running server: routes, schemas, options, metrics, environment names, models."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

from .client import parser
from .describe import Describer

# The server, and the encoder that is served apart from it.
APPLICATIONS = ("sglang.srt.entrypoints.http_server", "sglang.srt.disaggregation.encode_server")


def applications() -> dict[str, Any]:
    """The FastAPI applications of the tree by module; a release may lack one."""
    found = {}
    for name in APPLICATIONS:
        try:
            found[name] = importlib.import_module(name).app
        except (ModuleNotFoundError, AttributeError) as error:
            found[name] = type(error).__name__
    return found


def routes(describer: Describer) -> Any:
    """Every route of each application with its methods and the name of its function."""
    return {
        name: sorted(
            [
                str(getattr(route, "path", route)),
                sorted(getattr(route, "methods", None) or ()),
                getattr(route, "name", ""),
                describer.signature(route.endpoint) if hasattr(route, "endpoint") else "",
            ]
            for route in getattr(app, "routes", ())
        )
        for name, app in applications().items()
    }


def openapi(describer: Describer) -> Any:
    """The OpenAPI document of each application."""
    return {name: app if isinstance(app, str) else app.openapi() for name, app in applications().items()}


def server_options(describer: Describer) -> Any:
    """The options of the server's parser."""
    from sglang.srt.server_args import ServerArgs  # type: ignore[import-not-found]

    found = argparse.ArgumentParser()
    ServerArgs.add_cli_args(found)
    return parser(found, describer)


def fields(describer: Describer) -> Any:
    """The fields of ServerArgs and PortArgs."""
    import sglang.srt.server_args as module

    return {name: describer.class_(getattr(module, name)) for name in ("ServerArgs", "PortArgs")}


def public(describer: Describer) -> Any:
    """The names of ``import sglang``, and the classes that programs embed."""
    import sglang  # type: ignore[import-not-found]

    rows: dict[str, Any] = {name: describer.value(getattr(sglang, name)) for name in sorted(sglang.__all__)}
    for module, name in (
        ("sglang.srt.entrypoints.engine", "Engine"),
        ("sglang.srt.entrypoints.EngineBase", "EngineBase"),
        ("sglang.srt.entrypoints.http_server_engine", "HttpServerEngineAdapter"),
        ("sglang.srt.sampling.sampling_params", "SamplingParams"),
    ):
        rows[f"{module}.{name}"] = describer.class_(getattr(importlib.import_module(module), name))
    return rows


def messages(describer: Describer) -> Any:
    """The classes that processes send each other."""
    module = importlib.import_module("sglang.srt.managers.io_struct")
    return {
        name: describer.class_(value)
        for name, value in sorted(vars(module).items())
        if isinstance(value, type) and value.__module__ == module.__name__
    }


def environment(describer: Describer) -> Any:
    """The environment names that the tree declares, with kind and default."""
    from sglang.srt import environ  # type: ignore[import-not-found]

    rows = {}
    for name in sorted(dir(environ.envs)):
        field = inspect.getattr_static(environ.envs, name)
        if hasattr(field, "default"):
            rows[name] = f"{type(field).__name__} {describer.member(field.default)}"
    return rows


def metrics(describer: Describer) -> Any:
    """Names, kinds, labels and buckets of the Prometheus metrics that the collectors create."""
    import prometheus_client  # type: ignore[import-not-found]

    module = importlib.import_module("sglang.srt.observability.metrics_collector")
    made: list[list[Any]] = []
    for kind in ("Counter", "Gauge", "Histogram", "Summary"):
        setattr(prometheus_client, kind, _recorder(kind, made, describer))
    rows: dict[str, Any] = {}
    for name, cls in sorted(vars(module).items()):
        if not (isinstance(cls, type) and cls.__module__ == module.__name__ and name.endswith("Collector")):
            continue
        made.clear()
        arguments = {
            p.name: Labels(model_name="m") if p.name == "labels" else _plain(p)
            for p in inspect.signature(cls).parameters.values()
            if p.default is inspect.Parameter.empty or p.name == "labels"
        }
        try:
            cls(**arguments)
        except Exception as error:
            rows[f"{name} failed"] = describer.failure(error)
        rows[name] = sorted(made, key=str)
    return rows


class Labels(dict[str, Any]):
    """The labels of a collector; ranks that it asks for are 0."""

    def __missing__(self, name: str) -> int:
        return 0


def _plain(parameter: inspect.Parameter) -> Any:
    kinds = {"int": 8, "float": 1.0, "bool": True, "str": "x"}
    text = getattr(parameter.annotation, "__name__", str(parameter.annotation))
    return kinds.get(text) or MagicMock()


def _recorder(kind: str, made: list[list[Any]], describer: Describer) -> Callable[..., Any]:
    def create(name: str, documentation: str = "", labelnames: Any = (), **kwargs: Any) -> Any:
        labels = sorted(str(label) for label in labelnames) if not isinstance(labelnames, MagicMock) else []
        made.append([name, kind, labels, describer.value(kwargs.get("buckets"))])
        return MagicMock()

    return create


def tables(describer: Describer) -> Any:
    """Registries that arguments choose from: of two modules for one name the first that there is."""
    rows: dict[str, Any] = {}
    places = (
        ("sglang.srt.layers.attention.attention_registry", "ATTENTION_BACKENDS"),
        ("sglang.srt.layers.quantization", "QUANTIZATION_METHODS"),
        ("sglang.srt.layers.quantization", "BASE_QUANTIZATION_METHODS"),
        ("sglang.srt.parser.reasoning_parser", "ReasoningParser.DetectorMap"),
        ("sglang.srt.function_call.function_call_parser", "FunctionCallParser.ToolCallParserEnum"),
        ("sglang.srt.lora.backend.lora_registry", "LORA_SUPPORTED_BACKENDS"),
        # Since 0.5.19 `overrides` only imports it, and loses what it does not use.
        ("sglang.srt.arg_groups.model_override_base", "MODEL_OVERRIDES"),
        ("sglang.srt.arg_groups.overrides", "MODEL_OVERRIDES"),
        ("sglang.srt.arg_groups.overrides", "POST_PROCESS_PASSES"),
        ("sglang.srt.speculative.spec_info", "SpeculativeAlgorithm.__members__"),
        ("sglang.srt.mem_cache.storage.backend_factory", "StorageBackendFactory._registry"),
    )
    there: dict[str, str] = {}
    for module, name in places:
        with contextlib.suppress(Exception):
            if importlib.util.find_spec(module) is not None:
                there.setdefault(name, module)
    for module, name in places:
        if there.get(name, module) != module:
            continue
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
            rows[f"{module}.{name}"] = describer.value(dict(found) if hasattr(found, "keys") else found)
        except Exception as error:
            rows[f"{module}.{name}"] = describer.failure(error)
    return rows


PARTS: tuple[Callable[[Describer], Any], ...] = (
    routes,
    openapi,
    server_options,
    fields,
    public,
    messages,
    environment,
    metrics,
    tables,
)


def dump(describer: Describer) -> dict[str, Any]:
    """Every part by name; a part that fails says how."""
    found: dict[str, Any] = {}
    for part in PARTS:
        sys.argv = ["surface"]
        try:
            found[part.__name__] = part(describer)
        except Exception as error:
            found[part.__name__] = {"failure": describer.failure(error)}
    return found
