from __future__ import annotations

import pytest

from ncuroof.collect import permission

ADMIN, NOBODY = "0000003fffffffff", "00000000a80425fb"
"""CapEff of a privileged process, and of root in a container with docker's default capabilities."""


def machine(root, *, restricted=None, capabilities=NOBODY, files=(), version="Linux version 6.1"):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/driver/nvidia").mkdir(parents=True)
    (root / "proc/version").write_text(version)
    (root / "proc/self/status").write_text(f"Name:\tx\nCapInh:\t0\nCapEff:\t{capabilities}\nCapBnd:\t0\n")
    if restricted is not None:
        text = f"ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: {int(restricted)}\nModifyDeviceFiles: 1\n"
        (root / "proc/driver/nvidia/params").write_text(text)
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("")
    return root


def test_capability_bit_is_that_of_linux():
    # CAP_SYS_ADMIN is 21 in linux/capability.h; docker's default set a80425fb lacks it, 0x200000 is it alone.
    assert 1 << permission.CAP_SYS_ADMIN == 0x200000
    assert not int(NOBODY, 16) & 0x200000


@pytest.mark.parametrize(
    ("restricted", "capabilities", "state"),
    [
        (False, NOBODY, "allowed"),
        (True, ADMIN, "allowed"),
        (True, NOBODY, "refused"),
        (None, NOBODY, "unknown"),
        (None, ADMIN, "unknown"),
    ],
)
def test_verdict(tmp_path, restricted, capabilities, state):
    root = machine(tmp_path, restricted=restricted, capabilities=capabilities)
    assert permission.check({}, root=root).state == state


def test_the_driver_layer_says_who_changes_what(tmp_path):
    found = permission.check({}, root=machine(tmp_path, restricted=True))
    assert [layer.name for layer in found.layers] == ["driver"]
    text = found.explain()
    assert "RmProfilingAdminOnly: 1" in text
    assert "NVreg_RestrictProfilingToAdminUsers=0" in text
    assert "ncuroof bound" in text  # what still works


@pytest.mark.parametrize(
    ("files", "environment"),
    [((".dockerenv",), {}), (("run/.containerenv",), {}), ((), {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})],
)
def test_a_container_is_a_layer_of_its_own(tmp_path, files, environment):
    found = permission.check(environment, root=machine(tmp_path, restricted=True, files=files))
    assert [(layer.name, layer.state) for layer in found.layers] == [("driver", "refused"), ("container", "refused")]
    assert "--cap-add=SYS_ADMIN" in found.explain()


def test_a_container_whose_cgroup_tells(tmp_path):
    root = machine(tmp_path, restricted=True)
    (root / "proc/1").mkdir()
    (root / "proc/1/cgroup").write_text("0::/kubepods.slice/pod1\n")
    assert "kubepods" in permission.check({}, root=root).layers[1].found


def test_an_allowed_container_is_no_obstacle(tmp_path):
    root = machine(tmp_path, restricted=True, capabilities=ADMIN, files=(".dockerenv",))
    found = permission.check({"RUNPOD_POD_ID": "x"}, root=root)
    assert {layer.state for layer in found.layers} == {"allowed"}


def test_a_managed_platform_is_named(tmp_path):
    found = permission.check({"RUNPOD_POD_ID": "x"}, root=machine(tmp_path, restricted=True, files=(".dockerenv",)))
    assert [layer.name for layer in found.layers] == ["driver", "container", "provider"]
    assert "RunPod" in found.explain()


def test_windows_subsystem_for_linux_is_decided_on_windows(tmp_path):
    root = machine(tmp_path, version="Linux version 5.15 (microsoft-standard-WSL2)")
    found = permission.check({}, root=root)
    assert found.state == "unknown"
    assert "NVIDIA Control Panel" in found.explain()


def test_a_refusal_that_nothing_explains_points_below_the_operating_system(tmp_path):
    text = permission.explain_refusal({}, root=machine(tmp_path, restricted=False))
    assert "virtual GPU" in text


def test_a_refusal_where_the_driver_tells_nothing_still_names_what_to_change(tmp_path):
    text = permission.explain_refusal({}, root=machine(tmp_path, files=(".dockerenv",), capabilities=ADMIN))
    assert "by default it lets only administrators profile" in text
    assert "NVreg_RestrictProfilingToAdminUsers=0" in text
    assert "--cap-add=SYS_ADMIN" in text


def test_nothing_readable_is_unknown_and_no_crash(tmp_path):
    found = permission.check({}, root=tmp_path / "missing")
    assert found.state == "unknown"
    assert found.explain()
