# PowerShell completion of flipop, for Windows PowerShell 5.1 and PowerShell 7. In $PROFILE: flipop completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName flipop -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    # What stands before the cursor, the program first.
    $line = @()
    $end = 0
    foreach ($element in $commandAst.CommandElements) {
        $start = $element.Extent.StartOffset
        if ($start -ge $cursorPosition) { break }
        $end = $element.Extent.EndOffset
        $text = $element.Extent.Text
        $line += $text.Substring(0, [Math]::Min($text.Length, $cursorPosition - $start)).Trim("'", '"')
    }
    $program = $line[0]
    $words = @($line | Select-Object -Skip 1)
    $current = ''
    $flags = @()
    if ($end -lt $cursorPosition) {
        $flags = @('--then-new-word')
    } elseif ($words.Count -gt 0) {
        $current = $words[-1]
    }
    # PowerShell may count only the end of a word as the word: what stands before it stays in the line.
    $kept = 0
    if ($current.EndsWith("$wordToComplete")) { $kept = $current.Length - "$wordToComplete".Length }
    $offered = 0
    $directive = 4
    foreach ($answer in @(& $program __complete @flags @words 2>$null)) {
        $text, $about = "$answer" -split "`t", 2
        if ($text.StartsWith(':')) {
            $directive = [int]$text.Substring(1)
        } elseif ($text.Length -gt $kept) {
            if (-not $about) { $about = $text }
            [System.Management.Automation.CompletionResult]::new($text.Substring($kept), $text, 'ParameterValue', $about)
            $offered += 1
        }
    }
    # With nothing at all PowerShell offers files.
    if ($offered -eq 0 -and ($directive -band 4)) { '' }
}
