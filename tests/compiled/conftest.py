"""These tests are about numba's kernels, so what would come first is left out: the encoder in C."""

import pytest


@pytest.fixture(autouse=True, scope="package")
def without_the_encoder_in_c():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bpelab.pipeline.encoder_for", lambda model, split: None)
        patch.setattr("bpelab.joining.decoder_for", lambda contents: None)
        yield
