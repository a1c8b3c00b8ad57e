"""Whether performance counters may be read here, layer by layer, asked before anything is run.

Three layers can say no: the driver on the host (only administrators may profile, its default), the container (without
the capability SYS_ADMIN even its root is no administrator to the driver), and the provider of a cloud machine, who
may allow neither to change. Source: NVIDIA's page on ERR_NVGPUCTRPERM.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CAP_SYS_ADMIN = 21
"""Bit of the capability in CapEff (linux/capability.h)."""

OPEN, BLOCKED, UNKNOWN = "allowed", "refused", "unknown"

CONTAINER_FILES = ("/.dockerenv", "/run/.containerenv", "/.singularity.d")
CONTAINER_VARIABLES = ("KUBERNETES_SERVICE_HOST", "SINGULARITY_CONTAINER", "APPTAINER_CONTAINER", "container")
CLOUD_VARIABLES = {
    "RUNPOD_POD_ID": "RunPod",
    "VAST_CONTAINERLABEL": "Vast.ai",
    "COLAB_RELEASE_TAG": "Google Colab",
    "KAGGLE_KERNEL_RUN_TYPE": "Kaggle",
    "SM_TRAINING_ENV": "Amazon SageMaker",
    "AZUREML_RUN_ID": "Azure Machine Learning",
    "MODAL_TASK_ID": "Modal",
    "PAPERSPACE_NOTEBOOK_REPO_ID": "Paperspace",
}
"""Environment variables that managed platforms set, and whose they are."""

STILL_WORKS = (
    "Without counters these still work: `ncuroof analyze` on reports made elsewhere; the scripts in collectors/ "
    "(times, bandwidths and FLOP rates need no counters); `ncuroof bound` for the least time a shape can take; Nsight "
    "Systems or torch.profiler for time outside kernels."
)


@dataclass(frozen=True)
class Layer:
    """What one layer says.

    Attributes:
        name: driver, container or provider.
        state: allowed, refused or unknown.
        found: what was found, as a clause.
        remedy: who can change it and how; empty where nothing is to be done.
    """

    name: str
    state: str
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class Permission:
    """The verdict over all layers; ``state`` is allowed, refused or unknown (only a run can tell)."""

    state: str
    layers: tuple[Layer, ...]

    def explain(self) -> str:
        """Return a paragraph for each layer that matters, and what works all the same."""
        lines = [f"  {layer.name}: {layer.found}. {layer.remedy}".rstrip() for layer in self.layers]
        return "\n".join([*lines, STILL_WORKS])


def check(environment: Mapping[str, str], *, root: Path = Path("/"), refused: bool = False) -> Permission:
    """Ask every layer.

    Args:
        environment: environment variables, for signs of a container or a platform.
        root: folder that stands for the root of the file system.
        refused: ncu has refused, so a driver that does not tell its setting is taken to restrict profiling.
    """
    admin = _is_admin(root)
    windows = "microsoft" in _read(root / "proc/version").lower()
    restricted = _restricted(root)
    if restricted is None and refused and not windows:
        restricted, admin = True, False
    container = _container(environment, root)
    layers = [_driver(restricted, admin, windows=windows, told=_restricted(root) is not None)]
    if container:
        layers.append(_container_layer(container, restricted, admin))
    cloud = next((name for variable, name in CLOUD_VARIABLES.items() if variable in environment), None)
    if cloud:
        layers.append(_provider(cloud, layers))
    return Permission(_verdict(restricted, admin), tuple(layers))


def explain_refusal(environment: Mapping[str, str], *, root: Path = Path("/")) -> str:
    """Return the explanation to show once ncu has refused, whatever the layers said before."""
    permission = check(environment, root=root, refused=True)
    if permission.state != OPEN:
        return permission.explain()
    return (
        "  Nothing that can be seen from here explains it: the driver's setting and the capabilities look right. A "
        "virtual GPU or the provider of the machine can refuse below the operating system; ask them.\n" + STILL_WORKS
    )


def _verdict(restricted: bool | None, admin: bool | None) -> str:
    if restricted is False or admin:
        return OPEN if restricted is not None else UNKNOWN
    if restricted and admin is False:
        return BLOCKED
    return UNKNOWN


def _driver(restricted: bool | None, admin: bool | None, *, windows: bool, told: bool) -> Layer:
    if restricted is None and windows:
        return Layer(
            "driver",
            UNKNOWN,
            "this is Windows Subsystem for Linux, where the Windows driver decides",
            "In the NVIDIA Control Panel on Windows: Developer, Manage GPU Performance Counters, allow all users; then "
            "`wsl --shutdown`.",
        )
    if restricted is None:
        return Layer("driver", UNKNOWN, "no NVIDIA driver that tells its settings (/proc/driver/nvidia/params)")
    if not restricted:
        return Layer("driver", OPEN, "the driver lets every user profile (RmProfilingAdminOnly: 0)")
    found = "the driver lets only administrators profile (RmProfilingAdminOnly: 1)"
    if not told:
        found = "the driver does not tell its setting here; by default it lets only administrators profile"
    if admin:
        return Layer("driver", OPEN, f"{found}, and this process is one")
    return Layer(
        "driver",
        BLOCKED,
        f"{found}, and this process is none" if told else found,
        "On the host, as root: put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into a file in "
        "/etc/modprobe.d, rebuild the initramfs where the module is loaded from it, and reboot. For one run: "
        '`sudo env PATH="$PATH" ncuroof collect ...`.',
    )


def _container_layer(container: str, restricted: bool | None, admin: bool | None) -> Layer:
    if restricted is None:
        return Layer("container", UNKNOWN, f"this is a container ({container})")
    if not restricted or admin:
        return Layer("container", OPEN, f"this is a container ({container}), and it is allowed to profile")
    return Layer(
        "container",
        BLOCKED if restricted and admin is False else UNKNOWN,
        f"this is a container ({container}) without the capability SYS_ADMIN; root inside it is not enough",
        "Start it with `--cap-add=SYS_ADMIN` (docker, podman), or in Kubernetes with "
        "securityContext.capabilities.add: [SYS_ADMIN]; or change the driver's setting on the host.",
    )


def _provider(cloud: str, layers: list[Layer]) -> Layer:
    if all(layer.state == OPEN for layer in layers):
        return Layer("provider", OPEN, f"this looks like {cloud}, and nothing stands in the way")
    return Layer(
        "provider",
        UNKNOWN,
        f"this looks like {cloud}; managed platforms often allow neither the driver setting nor the capability",
        "Ask the provider, or profile on a whole machine where you are root on the host.",
    )


def _restricted(root: Path) -> bool | None:
    """Whether the driver restricts profiling to administrators; None where it does not tell."""
    match = re.search(r"^RmProfilingAdminOnly:\s*(\d+)", _read(root / "proc/driver/nvidia/params"), re.MULTILINE)
    return None if match is None else match[1] != "0"


def _is_admin(root: Path) -> bool | None:
    """Whether this process has SYS_ADMIN in effect; None where that cannot be read."""
    match = re.search(r"^CapEff:\s*([0-9a-fA-F]+)", _read(root / "proc/self/status"), re.MULTILINE)
    return None if match is None else bool(int(match[1], 16) >> CAP_SYS_ADMIN & 1)


def _container(environment: Mapping[str, str], root: Path) -> str:
    """Return the sign of a container; empty if there is none."""
    for file in CONTAINER_FILES:
        if (root / file.lstrip("/")).exists():
            return file
    for variable in CONTAINER_VARIABLES:
        if environment.get(variable):
            return variable
    groups = _read(root / "proc/1/cgroup")
    return next((word for word in ("docker", "kubepods", "containerd", "lxc", "libpod") if word in groups), "")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
