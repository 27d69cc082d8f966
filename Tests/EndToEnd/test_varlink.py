"""A client of another project, which knows only the socket."""

import pytest
import varlink

import programs


@pytest.fixture
def connection(lifed):
    with varlink.Client.new_with_address(f"unix:{lifed.address}") as client:
        yield client


def test_introspection_finds_the_interface(connection):
    with connection.open("org.varlink.service") as service:
        info = service.GetInfo()
    assert "org.lifed" in info["interfaces"]
    assert info["product"]


def test_list_and_focus_through_introspection_alone(lifed, connection):
    lifed.lifectl.start("first", *programs.IDLE)
    lifed.lifectl.start("second", *programs.IDLE)
    with connection.open("org.lifed") as apps:
        assert {app["id"] for app in apps.List()["apps"]} == {"first", "second"}
        assert apps.Focus("first")["app"]["state"] == "active"
    assert lifed.lifectl.state("first") == "active"


def test_errors_carry_the_app_the_reason_and_a_remedy(connection):
    with connection.open("org.lifed") as apps:
        with pytest.raises(varlink.VarlinkError) as caught:
            apps.Focus("no.such.app")
    assert caught.value.error() == "org.lifed.NoSuchApp"
    parameters = caught.value.parameters()
    assert parameters["id"] == "no.such.app"
    assert parameters["reason"] and parameters["remedy"]


def test_monitor_streams(lifed, connection):
    with connection.open("org.lifed") as apps:
        changes = apps.Monitor(_more=True)
        first = next(changes)
        assert first["apps"] == []
        lifed.lifectl.start("seen", *programs.IDLE)
        assert next(changes)["transition"]["id"] == "seen"
