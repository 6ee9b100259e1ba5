"""Faults that arrive with a request: its headers become hooks for that request alone."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from aiohttp import web

from chaosgate.draws import Draw
from chaosgate.engine.armed import ARMED, Armed
from chaosgate.errors import UsageError
from chaosgate.model.base import read_model
from chaosgate.model.carried_faults import CarriedFaults, Dosed, EngineFaults, read_carried_faults
from chaosgate.model.fault import EngineFault
from chaosgate.model.fault_headers import EVERY, FAULTS_HEADER, TOKEN_HEADER
from chaosgate.model.sites import Array, Hooks, SiteContext, Transform, UnknownSiteError
from chaosgate.registry import unknown
from chaosgate.tokens import token_digest


class Faulting:
    """Arms requests of a model with `layers` layers of `experts` experts, for whoever knows its token.

    `digest` is the `token_digest` of that: the engine itself need not know it.
    """

    def __init__(self, faults: Sequence[EngineFault], digest: str, layers: int, experts: int) -> None:
        self._faults = {fault.name: fault for fault in faults}
        self._digest = digest
        self._layers = layers
        self._experts = experts

    def arm(self, request: web.Request) -> Hooks | None:
        """The hooks of `request`, None where it carries no fault; `tell` then answers for it."""
        text = request.headers.get(FAULTS_HEADER)
        if text is None:
            return None
        request[ARMED] = armed = self.armed(text, request.headers.get(TOKEN_HEADER, ""))
        return armed.hooks

    def armed(self, text: str, token: str) -> Armed:
        """What the text of FAULTS_HEADER asks for, if `token` is the engine's."""
        if not hmac.compare_digest(token_digest(token), self._digest):
            return Armed(refused={EVERY: f"the token in {TOKEN_HEADER} is missing or wrong"})
        try:
            return self._arm(read_carried_faults(text))
        except ValueError as error:
            return Armed(refused={EVERY: f"{FAULTS_HEADER} cannot be read: {error}"})

    def _arm(self, carried: CarriedFaults) -> Armed:
        armed = Armed(Hooks({}, shares=True, salt=carried.salt) if carried.salt else None)
        for dosed in carried.faults:
            try:
                own = self._hooks(carried, dosed, armed)
            except UsageError as error:
                armed.refused[dosed.name] = str(error)
                continue
            armed = replace(armed, hooks=own if armed.hooks is None else armed.hooks.then(own))
        return armed

    def _hooks(self, carried: CarriedFaults, dosed: Dosed, armed: Armed) -> Hooks:
        """The hooks of one fault, which note in `armed` what becomes of it; a UsageError says why there are none."""
        fault = self._faults.get(dosed.name)
        if fault is None:
            raise UsageError(unknown("fault", dosed.name, self._faults))
        if dosed.dose > fault.max_dose:
            raise UsageError(f"read dose {dosed.dose:g}; {fault.kind} allows at most {fault.max_dose:g} in base units")
        transform = _transform(fault, dosed.dose, fault.draw(carried.seed, carried.request), armed)
        # Without a salt, what it left would be found after its window, too.
        shares = fault.sharing() and carried.salt != ""
        hooks = Hooks(dict.fromkeys(fault.sites(self._layers), transform), shares)
        try:
            hooks.installed(self._layers, self._experts)
        except UnknownSiteError as error:
            raise UsageError(f"{error}; the model has {self._layers} layers of {self._experts} experts") from error
        return hooks


def _transform(fault: EngineFault, dose: float, draw: Draw, armed: Armed) -> Transform:
    def transform(array: Array, context: SiteContext) -> Array:
        try:
            changed = fault.transform(array, dose, draw, context)
        except Exception as error:
            # The engine ends the request with an error; the ledger is to say whose it was.
            armed.refused[fault.name] = f"it raised {type(error).__name__} at {context.site}: {error}"
            raise
        armed.ran.add(fault.name)
        return changed

    return transform


def read_faulting(path: Path, layers: int, experts: int) -> Faulting:
    """What the file `path`, an `EngineFaults` as JSON, lets the engine carry; a UsageError says what is wrong."""
    told = read_model(path, EngineFaults)
    return Faulting(told.faults, told.token_digest, layers, experts)
