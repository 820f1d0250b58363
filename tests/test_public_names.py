import pytest

import syndicate


def test_public_names_are_sorted_and_all_there():
    assert syndicate.__all__ == sorted(syndicate.__all__)
    for name in syndicate.__all__:
        assert getattr(syndicate, name).__name__ == name if hasattr(getattr(syndicate, name), "__name__") else True
    assert set(syndicate.__all__) <= set(dir(syndicate))


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Sindicate'"):
        _ = syndicate.Sindicate  # type: ignore[attr-defined]
