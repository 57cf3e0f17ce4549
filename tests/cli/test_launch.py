"""The launch kit: valid files, and only options that the tree has."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from pruner.model import Origin, Outcome, Snapshot, SourceFile
from pruner.pipeline.launch import commands, launch_kit, template, templates, unknown

# The fields of a LeaderWorkerSet and of a pod that this kit uses; a misspelt one is refused.
CONTAINER = {
    "type": "object",
    "required": ["name", "image"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "image": {"type": "string"},
        "command": {"type": "array", "items": {"type": "string"}},
        "args": {"type": "array", "items": {"type": "string"}},
        "resources": {
            "properties": {"limits": {"additionalProperties": {"type": "string"}}},
            "additionalProperties": False,
        },
        "ports": {"items": {"required": ["containerPort"]}},
        "readinessProbe": {"required": ["httpGet"]},
        "volumeMounts": {"items": {"required": ["name", "mountPath"]}},
    },
}
POD = {
    "type": "object",
    "required": ["spec"],
    "additionalProperties": False,
    "properties": {
        "metadata": {"type": "object"},
        "spec": {
            "required": ["containers"],
            "additionalProperties": False,
            "properties": {
                "hostIPC": {"type": "boolean"},
                "containers": {"type": "array", "minItems": 1, "items": CONTAINER},
                "volumes": {"items": {"required": ["name"]}},
            },
        },
    },
}
WORKERS = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": "leaderworkerset.x-k8s.io/v1"},
        "kind": {"const": "LeaderWorkerSet"},
        "metadata": {"required": ["name"]},
        "spec": {
            "required": ["leaderWorkerTemplate"],
            "additionalProperties": False,
            "properties": {
                "replicas": {"type": "integer"},
                "startupPolicy": {"enum": ["LeaderCreated", "LeaderReady"]},
                "rolloutStrategy": {"properties": {"type": {"const": "RollingUpdate"}}},
                "leaderWorkerTemplate": {
                    "required": ["workerTemplate"],
                    "additionalProperties": False,
                    "properties": {
                        "size": {"type": "integer", "minimum": 1},
                        "restartPolicy": {"enum": ["RecreateGroupOnPodRestart", "None"]},
                        "leaderTemplate": POD,
                        "workerTemplate": POD,
                    },
                },
            },
        },
    },
}
OPTIONS = sorted({word for name in templates() for one in commands(template(name)) for word in one if word[:2] == "--"})
CHOICES = ["trtllm_mla", "modelopt_fp4", "flashinfer_trtllm", "fp8_e4m3", "prefill", "decode", "mooncake"]


def a_tree(folder: Path, options: list[str], choices: list[str]) -> tuple[Snapshot, Outcome]:
    rows = "".join(f"    parser.add_argument({option!r})\n" for option in options)
    files = {
        "sglang/launch_server.py": b"",
        "sglang/srt/server_args.py": f"CHOICES = {choices!r}\n\n\ndef add(parser):\n{rows}".encode(),
        "sglang/srt/_core.cpython-311-x86_64-linux-gnu.so": b"",
    }
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    found = tuple(SourceFile(path, "0" * 64, len(files[path])) for path in sorted(files))
    return Snapshot(folder, found, Origin("tree", "sglang", "0.5.17", "")), Outcome({}, {}, (), (), {}, {})


def of(folder: Path, options: list[str] = OPTIONS, choices: list[str] = CHOICES) -> dict[str, str]:
    snapshot, outcome = a_tree(folder, options, choices)
    return {p: d.decode() for p, d in launch_kit(snapshot, outcome, ["flashinfer_python[cu13]==1"]).items()}


def test_all_files_are_there(tmp_path: Path) -> None:
    made = of(tmp_path)
    assert sorted(made) == [f"launch/{name}" for name in templates()]
    assert "Left out" not in made["launch/README.md"]
    listed = re.findall(r"`([\w-]+\.\w+|Dockerfile)`", made["launch/README.md"])
    assert sorted(set(listed)) == sorted(set(templates()) - {"README.md"})
    assert (
        "nvidia/cuda:${CUDA}-devel-ubuntu22.04" in made["launch/Dockerfile"]
        and "CUDA=13.0.1" in made["launch/Dockerfile"]
    )
    assert not any("@" in text.replace('"$@"', "") for text in made.values())


def test_an_option_that_is_gone_leaves_its_files_out(tmp_path: Path) -> None:
    made = of(tmp_path, [option for option in OPTIONS if option != "--nnodes"])
    gone = {"launch/r1-fp8-2x8xh100.sh", "launch/slurm-2x8xh100.sbatch", "launch/leaderworkerset-2x8xh100.yaml"}
    assert not gone & set(made) and len(made) == len(templates()) - 3
    assert "- `slurm-2x8xh100.sbatch`: this release, or this build, has no `--nnodes`" in made["launch/README.md"]
    assert "| `slurm-2x8xh100.sbatch` |" not in made["launch/README.md"]


def test_a_choice_that_is_gone_leaves_its_file_out(tmp_path: Path) -> None:
    made = of(tmp_path, choices=[choice for choice in CHOICES if choice != "trtllm_mla"])
    assert "launch/r1-nvfp4-gb200.sh" not in made and "`--attention-backend trtllm_mla`" in made["launch/README.md"]


def test_no_server_no_kit(tmp_path: Path) -> None:
    snapshot, outcome = a_tree(tmp_path, OPTIONS, CHOICES)
    outcome.files["sglang/launch_server.py"] = None
    assert launch_kit(snapshot, outcome, []) == {}


def test_commands_are_found_in_scripts_and_yaml() -> None:
    every = {name: list(commands(template(name))) for name in templates()}
    assert {name for name, found in every.items() if found} == {
        "leaderworkerset-2x8xh100.yaml", "pd-decode.sh", "pd-prefill.sh", "r1-fp8-2x8xh100.sh", "r1-fp8-8xh200.sh",
        "r1-nvfp4-gb200.sh", "slurm-2x8xh100.sbatch",
    }  # fmt: skip
    for name in ("r1-fp8-2x8xh100.sh", "slurm-2x8xh100.sbatch", "leaderworkerset-2x8xh100.yaml"):
        (command,) = every[name]
        assert command[command.index("--nnodes") + 1] == "2" and command[-1] == "--enable-metrics", command
        assert command[command.index("--dist-init-addr") + 1] == "127.0.0.1:5000"


def test_a_wrong_option_is_told() -> None:
    known = {"--model-path", "--quantization"}
    found = list(unknown(["--model-path", "x", "--model-pth", "y", "--quantization", "fp9"], known, b"'fp8'"))
    assert found == ["`--model-pth`", "`--quantization fp9`"]


SCRIPTS = [name for name in templates() if name.endswith((".sh", ".sbatch"))]


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_shell(name: str, tmp_path: Path) -> None:
    """The shell reads it, and runs what it says: a python3 that prints its arguments stands in for the server's."""
    path = tmp_path / name
    path.write_text(template(name))
    assert subprocess.run(["bash", "-n", path], capture_output=True, check=False).returncode == 0
    for program, text in {
        "python3": 'printf "%s\\n" "$@"',
        "srun": 'shift; exec "$@"',
        "scontrol": "echo node1; echo node2",
    }.items():
        (tmp_path / program).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / program).chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_NODELIST": "node[1-2]"}
    done = subprocess.run(["bash", path], capture_output=True, text=True, env=environment, check=True)
    said = done.stdout.splitlines()
    if "sglang.launch_server" in template(name):
        (command,) = commands(template(name))
        host = "node1" if name.endswith(".sbatch") else "127.0.0.1"
        assert said == ["-m", "sglang.launch_server", *(word.replace("127.0.0.1", host) for word in command)]
    else:
        assert said[:3] == ["-m", "sglang_router.launch_router", "--pd-disaggregation"]


def documents() -> list[Any]:
    return list(YAML(typ="safe", pure=True).load_all(template("leaderworkerset-2x8xh100.yaml")))


def test_the_worker_set_is_valid() -> None:
    workers, service = json.loads(json.dumps(documents()))
    jsonschema.validate(workers, WORKERS)
    assert (service["kind"], service["apiVersion"]) == ("Service", "v1")
    assert service["spec"]["selector"]["leaderworkerset.sigs.k8s.io/name"] == workers["metadata"]["name"]
    template_of = workers["spec"]["leaderWorkerTemplate"]
    for pod in (template_of["leaderTemplate"], template_of["workerTemplate"]):
        (container,) = pod["spec"]["containers"]
        words = shlex.split(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", container["args"][0]))
        (command,) = commands(template("leaderworkerset-2x8xh100.yaml"))
        assert words[4:] == command  # what the shell of the pod runs is what was checked
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["spec"]["volumes"]}


def test_a_misspelt_field_is_refused() -> None:
    workers = json.loads(json.dumps(documents()[0]))
    workers["spec"]["leaderWorkerTemplate"]["workerTemplates"] = {}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(workers, WORKERS)


def test_the_image_is_made_from_this_tree() -> None:
    lines = [line for line in re.sub(r"\\\n", " ", template("Dockerfile")).splitlines() if line and line[0] != "#"]
    known = {"ARG", "FROM", "RUN", "ENV", "COPY", "EXPOSE", "CMD"}
    assert {line.split()[0] for line in lines} == known
    start = json.loads(lines[-1].removeprefix("CMD "))
    assert start[0] == "bash" and Path(start[1]).name in templates()
    assert [line.split()[0] for line in lines[:2]] == ["ARG", "FROM"]
