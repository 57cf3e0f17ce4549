"""The launch kit: valid files, and only options that the tree has."""

from __future__ import annotations

import itertools
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
from pruner.parity.cells import CELLS, SM100_CELLS
from pruner.pipeline.launch import commands, launch_kit, template, templates, unknown

# The v1 schema of LeaderWorkerSet's CustomResourceDefinition (kubernetes-sigs/lws, v0.10.0 and 11 commits), cut to names
# and types: every field that it allows beside the fields of this kit, and nothing below fields that the kit leaves out.
WORKERS = json.loads(Path(__file__).with_name("leaderworkerset.schema.json").read_text())
OPTIONS = sorted({word for name in templates() for one in commands(template(name)) for word in one if word[:2] == "--"})
CHOICES = [
    "deepseek-r1",
    "trtllm_mla",
    "modelopt_fp4",
    "flashinfer_trtllm",
    "fp8_e4m3",
    "prefill",
    "decode",
    "mooncake",
]


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


def test_a_parser_that_is_gone_leaves_its_files_out(tmp_path: Path) -> None:
    """Its name stands beside the parsers; a build without it would refuse each start."""
    snapshot, outcome = a_tree(tmp_path, OPTIONS, [choice for choice in CHOICES if choice != "deepseek-r1"])
    place = "sglang/srt/parser/reasoning_parser.py"
    (tmp_path / place).parent.mkdir()
    for text, files in ((b"MAP = {'deepseek-r1': 1}\n", len(templates())), (b"MAP = {'other': 1}\n", 2)):
        (tmp_path / place).write_bytes(text)
        found = Snapshot(tmp_path, (*snapshot.files, SourceFile(place, "0" * 64, len(text))), snapshot.origin)
        assert len(made := launch_kit(found, outcome, [])) == files
    assert sorted(made) == ["launch/README.md", "launch/pd-router.sh"]
    assert re.findall(r"^\| `.*", made["launch/README.md"].decode(), re.M) == [
        "| `pd-router.sh` | prefill and decode on a node each, with the router in front |"
    ]
    assert "- `Dockerfile`: it starts `r1-fp8-8xh200.sh`" in made["launch/README.md"].decode()
    assert "has no `--reasoning-parser deepseek-r1`" in made["launch/README.md"].decode()


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


# What a script cannot guess: two nodes of rank 0, or a router in front of itself, would wait for ever.
NEEDED = {
    "r1-fp8-2x8xh100.sh": {"HEAD": "127.0.0.1", "NODE_RANK": "0"},
    "pd-router.sh": {"PREFILL": "http://a:30000", "DECODE": "http://b:30000"},
}
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
    # Of these the last two are set by shells and by conda's compilers: the login node's name, which sbatch passes on.
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "SLURM_JOB_NODELIST": "node[1-2]",
        "HOST": "login01",
        "HOSTNAME": "login01",
    }
    for variable, value in NEEDED.get(name, {}).items():
        done = subprocess.run(["bash", path], capture_output=True, text=True, env=environment, check=False)
        assert done.returncode and f"{variable}: " in done.stderr and not done.stdout, "started without what it needs"
        environment[variable] = value
    plain = subprocess.run(["bash", path], capture_output=True, text=True, env=environment, check=True)
    assert "--disaggregation-ib-device" not in plain.stdout  # unset: the server looks for network cards itself
    environment["IB_DEVICE"] = "IB_DEVICE"
    done = subprocess.run(["bash", path, "--mine", "a b"], capture_output=True, text=True, env=environment, check=True)
    *said, option, value = done.stdout.splitlines()
    assert (option, value) == ("--mine", "a b")  # further options go at the end
    if "sglang.launch_server" in template(name):
        (command,) = commands(template(name))
        host = "node1" if name.endswith(".sbatch") else "127.0.0.1"
        assert said == ["-m", "sglang.launch_server", *(word.replace("127.0.0.1", host) for word in command)]
    else:
        assert said[:3] == ["-m", "sglang_router.launch_router", "--pd-disaggregation"]


@pytest.mark.parametrize("rank", ["2", "-1", "one", "0 1"])
def test_a_rank_that_no_node_has_is_refused(rank: str, tmp_path: Path) -> None:
    """Two nodes that are counted from one would wait for rank 0 for ever."""
    (tmp_path / "x.sh").write_text(template("r1-fp8-2x8xh100.sh"))
    environment = {"PATH": "/usr/bin:/bin", "HEAD": "a", "NODE_RANK": rank}
    done = subprocess.run(["bash", tmp_path / "x.sh"], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (2, f"NODE_RANK is {rank}: 0 or 1, of two nodes\n")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_says_how_it_is_started(name: str) -> None:
    """The files that a run writes are not executable: `./x.sh` would be refused."""
    head = [line for line in template(name).splitlines() if line.startswith("# ") and f"{name}" in line]
    assert all(re.search(rf"\b(?:bash|sbatch) {re.escape(name)}", line) for line in head)


def documents() -> list[Any]:
    return list(YAML(typ="safe", pure=True).load_all(template("leaderworkerset-2x8xh100.yaml")))


def test_the_worker_set_is_valid() -> None:
    workers, service = json.loads(json.dumps(documents()))
    jsonschema.validate(workers, WORKERS)
    assert (service["kind"], service["apiVersion"]) == ("Service", "v1")
    # The controller makes a headless service of the set's name, if there is none: another of that name takes its place,
    # and no pod finds its leader.
    assert service["metadata"]["name"] != workers["metadata"]["name"]
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
    template_of = workers["spec"]["leaderWorkerTemplate"]
    probe = template_of["leaderTemplate"]["spec"]["containers"][0]["readinessProbe"]
    jsonschema.validate(workers, WORKERS)
    for place in (template_of, probe, probe["httpGet"], template_of["workerTemplate"]["spec"]["volumes"][1]):
        place["misspelt"] = 1
        with pytest.raises(jsonschema.ValidationError, match="misspelt"):
            jsonschema.validate(workers, WORKERS)
        del place["misspelt"]
    workers["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]["maxSurge"] = {}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(workers, WORKERS)


def test_the_image_is_made_from_this_tree() -> None:
    lines = [line for line in re.sub(r"\\\n", " ", template("Dockerfile")).splitlines() if line and line[0] != "#"]
    known = {"ARG", "FROM", "RUN", "ENV", "COPY", "EXPOSE", "CMD"}
    assert {line.split()[0] for line in lines} == known
    start = json.loads(lines[-1].removeprefix("CMD "))
    assert start[0] == "bash" and Path(start[1]).name in templates()
    assert [line.split()[0] for line in lines[:2]] == ["ARG", "FROM"]
    image = lines[1].split()[1]
    assert ":" in image and "latest" not in image and set(re.findall(r"\$\{(\w+)", image)) == {"CUDA"}
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "RUN":
            assert subprocess.run(["bash", "-n", "-c", rest], check=False).returncode == 0, rest
            if "apt-get" in rest:  # one layer, with what it need not keep gone
                assert "update" in rest and "--no-install-recommends" in rest and "rm -rf /var/lib/apt/lists/*" in rest
        elif word == "COPY":
            source, target = rest.split()
            assert source in (".", "launch") and target.startswith("/")


def test_the_plan_for_sm100_covers_what_the_kit_starts_on_gb200() -> None:
    """One cell has every choice of the file, so that what is handed out is what is compared once there is a card."""
    (command,) = commands(template("r1-nvfp4-gb200.sh"))
    pairs = {(a, b) for a, b in itertools.pairwise(command) if a[:2] == "--" and b[:2] != "--"}
    wanted = {pair for pair in pairs if pair[0] not in ("--model-path", "--host", "--port", "--reasoning-parser")}
    assert len(wanted) == 7
    (cell,) = [one for one in SM100_CELLS if one.cards == 4]
    words = cell.options()
    assert wanted <= set(itertools.pairwise(words)) and "--enable-dp-attention" in words
    alone = {pair for one in SM100_CELLS if one.cards == 1 for pair in itertools.pairwise(one.options())}
    assert {
        pair for pair in wanted if not pair[0].endswith("-size")
    } <= alone  # and each choice without the other cards


def test_cells_have_names_of_their_own() -> None:
    assert len({cell.name for cell in (*CELLS, *SM100_CELLS)}) == len(CELLS) + len(SM100_CELLS)
    assert all(cell.needs.startswith("an SM100 card") for cell in SM100_CELLS)


def test_files_agree_with_each_other() -> None:
    """Cards, ranks and ports: each file's own, and those of the files that work together."""
    starts = {name: commands(template(name)) for name in templates()}
    found = {name: dict(itertools.pairwise(words)) for name, rows in starts.items() for words in rows}
    for name, options in found.items():
        nodes = int(options.get("--nnodes", "1"))
        size = int(options["--tp-size"]) * int(options.get("--pp-size", "1"))
        assert size == nodes * (4 if "gb200" in name else 8), name
        assert size % int(options.get("--dp-size", "1")) == 0 and size % int(options.get("--ep-size", "1")) == 0
        assert options["--port"] == "30000"
    router = template("pd-router.sh")
    (port,) = re.findall(r"BOOTSTRAP_PORT:-(\d+)", router)
    assert found["pd-prefill.sh"]["--disaggregation-bootstrap-port"] == port
    assert re.search(r"#\s+PREFILL=http://10.0.0.1:30000 DECODE=http://10.0.0.2:30000 ", router)
    sides = [found[f"pd-{side}.sh"] for side in ("prefill", "decode")]
    assert (
        len({(side["--disaggregation-transfer-backend"], side["--tp-size"], side["--model-path"]) for side in sides})
        == 1
    )
    batch = template("slurm-2x8xh100.sbatch")
    assert re.findall(r"^#SBATCH --(nodes|gpus-per-node|ntasks-per-node|mem)=(\d+)", batch, re.M) == [
        *(("nodes", "2"), ("ntasks-per-node", "1"), ("gpus-per-node", "8"), ("mem", "0"))
    ]
    workers, service = documents()
    assert workers["spec"]["leaderWorkerTemplate"]["size"] == 2
    pods = [workers["spec"]["leaderWorkerTemplate"][f"{kind}Template"] for kind in ("leader", "worker")]
    assert [pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] for pod in pods] == ["8", "8"]
    served = pods[0]["spec"]["containers"][0]
    assert {served["ports"][0]["containerPort"], served["readinessProbe"]["httpGet"]["port"]} == {30000}
    assert service["spec"]["ports"] == [{"port": 30000, "targetPort": 30000}]
    assert pods[0]["metadata"]["labels"].items() <= service["spec"]["selector"].items()
