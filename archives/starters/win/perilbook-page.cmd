@echo off
title Perilbook
rem A double click opens the page in the browser. Closing this window ends the page.
"%~dp0node.exe" --max-semi-space-size=4 "%~dp0bin\perilbook.cjs" ui %*
if errorlevel 1 pause
