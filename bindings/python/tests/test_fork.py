"""Forks beside threads that use filters: see forks.py for what is tried."""
import os
import subprocess
import sys

import forks
import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("scenario", [s.__name__ for s in forks.SCENARIOS])
def test_child_can_use_filters(scenario):
    done = subprocess.run([sys.executable, forks.__file__, scenario], text=True,
                          stderr=subprocess.PIPE, timeout=20 * forks.GUARD)
    assert done.returncode == 0, done.stderr
