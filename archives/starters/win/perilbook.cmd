@"%~dp0node.exe" --max-semi-space-size=16 "%~dp0bin\perilbook.cjs" %*
