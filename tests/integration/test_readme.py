"""The README's Python runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

# Errors, all but that so few words make a small model.
WARNINGS = ("-W", "error", "-W", "ignore:the corpus:UserWarning")
README = Path(__file__).parents[2] / "README.md"


def test_the_python_of_the_readme_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    ran = subprocess.run(
        [sys.executable, *WARNINGS, "-c", "\n".join(blocks)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("(3, ")
    assert "('loud', 'loud')" in ran.stdout
    assert (tmp_path / "reviews.dv").is_dir()
