#!/usr/bin/env python3
"""html_names.c is what html_names.py makes: check_html_names.py SOURCE_DIRECTORY"""
import pathlib
import subprocess
import sys

text = pathlib.Path(sys.argv[1]) / 'engine' / 'text' / 'html'
made = subprocess.run([sys.executable, text / 'html_names.py'], check=True, capture_output=True, text=True).stdout
sys.exit('engine/text/html/html_names.c is not what html_names.py makes' if made != (text / 'html_names.c').read_text() else 0)
