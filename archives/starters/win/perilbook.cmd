@"%~dp0node.exe" --max-semi-space-size=4 "%~dp0bin\perilbook.cjs" %*
