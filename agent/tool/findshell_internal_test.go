package tool

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The choice of the shell on Windows, by what a machine has. The PATH is that of a usual machine, and begins with System32.
func TestTheShellOfWindows(t *testing.T) {
	t.Parallel()
	const (
		wsl     = `C:\Windows\System32\bash.exe`
		git     = `C:\Program Files\Git\bin\bash.exe`
		windows = `C:\Windows\System32;C:\Windows;`
	)
	for name, tc := range map[string]struct {
		env  map[string]string
		has  []string
		want string
	}{
		"Git Bash comes before the bash of WSL":      {env: map[string]string{"PATH": windows}, has: []string{wsl, git}, want: git},
		"Git Bash comes before other programs":       {env: map[string]string{"PATH": `D:\msys64\usr\bin;`}, has: []string{`D:\msys64\usr\bin\bash.exe`, git}, want: git},
		"the bash of WSL is never taken":             {env: map[string]string{"PATH": windows}, has: []string{wsl}},
		"in no spelling of its directory":            {env: map[string]string{"PATH": `c:\WINDOWS\system32;"C:\Windows\System32\";C:/Windows/Sysnative/;C:\Windows\Temp\..\System32;\\?\C:\Windows\System32`}, has: []string{wsl, `c:\WINDOWS\system32\bash.exe`, `C:\Windows\Sysnative\bash.exe`, `C:\Windows\Temp\..\System32\bash.exe`, `\\?\C:\Windows\System32\bash.exe`}},
		"nor where Windows has another place":        {env: map[string]string{"PATH": `E:\Win\System32`, "SystemRoot": `E:\WIN\`}, has: []string{`E:\Win\System32\bash.exe`}},
		"nor its alias among the apps":               {env: map[string]string{"PATH": `C:\Users\u\AppData\Local\Microsoft\WindowsApps`}, has: []string{`C:\Users\u\AppData\Local\Microsoft\WindowsApps\bash.exe`}},
		"an installation of 32 bits":                 {has: []string{`C:\Program Files (x86)\Git\bin\bash.exe`}, want: `C:\Program Files (x86)\Git\bin\bash.exe`},
		"an installation of one user":                {has: []string{`C:\Users\u\AppData\Local\Programs\Git\bin\bash.exe`}, want: `C:\Users\u\AppData\Local\Programs\Git\bin\bash.exe`},
		"an installation of Scoop":                   {has: []string{`C:\Users\u\scoop\apps\git\current\bin\bash.exe`}, want: `C:\Users\u\scoop\apps\git\current\bin\bash.exe`},
		"a Scoop in another place":                   {env: map[string]string{"SCOOP": `D:\scoop`}, has: []string{`D:\scoop\apps\git\current\usr\bin\bash.exe`}, want: `D:\scoop\apps\git\current\usr\bin\bash.exe`},
		"an installation that git.exe gives away":    {env: map[string]string{"PATH": windows + `D:\Tools\Git\cmd`}, has: []string{wsl, `D:\Tools\Git\cmd\git.exe`, `D:\Tools\Git\bin\bash.exe`}, want: `D:\Tools\Git\bin\bash.exe`},
		"also from its deep directory":               {env: map[string]string{"PATH": `D:\Tools\Git\mingw64\bin\`}, has: []string{`D:\Tools\Git\mingw64\bin\git.exe`, `D:\Tools\Git\bin\bash.exe`}, want: `D:\Tools\Git\bin\bash.exe`},
		"a git.exe in the root of a drive":           {env: map[string]string{"PATH": `D:\`}, has: []string{`D:\git.exe`}},
		"MSYS2 on the PATH":                          {env: map[string]string{"PATH": windows + `D:\msys64\usr\bin`}, has: []string{wsl, `D:\msys64\usr\bin\bash.exe`}, want: `D:\msys64\usr\bin\bash.exe`},
		"quotes in the PATH":                         {env: map[string]string{"PATH": `"D:\my tools\bin"`}, has: []string{`D:\my tools\bin\bash.exe`}, want: `D:\my tools\bin\bash.exe`},
		"bash comes before sh":                       {env: map[string]string{"PATH": `D:\a;D:\b`}, has: []string{`D:\a\sh.exe`, `D:\b\bash.exe`}, want: `D:\b\bash.exe`},
		"sh if there is no bash":                     {env: map[string]string{"PATH": `D:\a`}, has: []string{`D:\a\sh.exe`}, want: `D:\a\sh.exe`},
		"relative directories are not searched":      {env: map[string]string{"PATH": `.;bin;\tools;C:tools;`}, has: []string{`.\bash.exe`, `bin\bash.exe`, `\tools\bash.exe`, `C:tools\bash.exe`, `\bash.exe`, `bash.exe`}},
		"no variables":                               {env: map[string]string{"ProgramFiles": "", "ProgramFiles(x86)": "", "LOCALAPPDATA": "", "USERPROFILE": ""}, has: []string{`\Git\bin\bash.exe`, `Git\bin\bash.exe`, `\bin\bash.exe`}},
		"directories whose names begin like Windows": {env: map[string]string{"PATH": `C:\WindowsTools`}, has: []string{`C:\WindowsTools\bash.exe`}, want: `C:\WindowsTools\bash.exe`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			getenv := func(variable string) string {
				if value, ok := tc.env[variable]; ok {
					return value
				}
				return map[string]string{
					"ProgramFiles": `C:\Program Files`, "ProgramFiles(x86)": `C:\Program Files (x86)`, "SystemRoot": `C:\Windows`,
					"LOCALAPPDATA": `C:\Users\u\AppData\Local`, "USERPROFILE": `C:\Users\u`,
				}[variable]
			}
			exists := func(path string) bool {
				for _, p := range tc.has {
					if strings.EqualFold(p, path) {
						return true
					}
				}
				return false
			}
			require.Equal(t, tc.want, windowsShell(getenv, exists))
		})
	}
}

// The values in files of settings are commands for sh. Windows has none of its own, and the first one on the PATH may be that of WSL.
func TestTheShellOfValues(t *testing.T) {
	t.Parallel()
	git := func() string { return `C:\Program Files\Git\bin\bash.exe` }
	require.Equal(t, git(), valueShell("windows", git))
	require.Empty(t, valueShell("windows", func() string { return "" }))
	require.Equal(t, "sh", valueShell("linux", git))
	out, err := ValueCommand(t.Context(), `printf %s "a  b"`).Output()
	require.NoError(t, err)
	require.Equal(t, "a  b", string(out))
}

// Without a shell, the error names what to install.
func TestNoShellOnWindows(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"Git for Windows", "https://gitforwindows.org", "--shell-path", "shellPath"} {
		assert.Contains(t, noShell("windows"), want)
	}
	assert.NotContains(t, noShell("linux"), "Windows")
}

// The commands of other shells, and of the system in WSL, need approval: their syntax or their paths are not known.
func TestKnownShells(t *testing.T) {
	t.Parallel()
	for program, known := range map[string]bool{
		`C:\Program Files\Git\bin\bash.exe`: true, `D:\msys64\usr\bin\BASH.EXE`: true, `D:/a/sh`: true, `C:\Windows\System32\bash.exe`: false,
		`C:/WINDOWS/sysnative/bash`: false, `C:\Users\u\AppData\Local\Microsoft\WindowsApps\bash.exe`: false, `D:\pwsh.exe`: false, `D:\bash.cmd`: false,
	} {
		assert.Equal(t, known, knownShell("windows", func(string) string { return "" }, program), program)
	}
	for program, known := range map[string]bool{"/bin/bash": true, "/bin/sh": true, "/bin/zsh": false, "/x/BASH": false, "/x/bash.exe": false} {
		assert.Equal(t, known, knownShell("linux", func(string) string { return "" }, program), program)
	}
}
