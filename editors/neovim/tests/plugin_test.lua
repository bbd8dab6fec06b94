-- Behavior before, and without, a server.

local harness = require('harness')
local runner = require('runner')
local case, eq, like = runner.case, runner.eq, runner.like

case('starting Neovim loads no module of the plugin', function()
  -- The harness loads the API to stop servers, so this test starts a fresh Neovim.
  local init = debug.getinfo(1, 'S').source:sub(2):gsub('[^/]+$', 'init.lua')
  local print_loaded = 'lua for name in pairs(package.loaded) do'
    .. ' if name:find("^xcsh") then io.stdout:write(name, " ") end end'
  -- v:progpath is not usable here: for an unpacked Neovim, it is the dynamic loader.
  local cmd = { vim.env.XCSH_TEST_NVIM, '--headless', '-n', '-i', 'NONE', '-u', init }
  local out = vim.system(vim.list_extend(cmd, { '-c', print_loaded, '-c', 'qall!' })):wait()
  eq({ code = 0, stdout = '' }, { code = out.code, stdout = out.stdout })
end)

case('every command of the palette has a user command', function()
  local want, got = { 'Xcsh', 'XcshChat', 'XcshHistory', 'XcshInline', 'XcshList', 'XcshModel' }, {}
  vim.list_extend(want, { 'XcshApprovals', 'XcshCommands', 'XcshEngines' })
  vim.list_extend(want, { 'XcshReview', 'XcshRedo' })
  vim.list_extend(want, { 'XcshFind', 'XcshSearch', 'XcshSearchHere', 'XcshTree' })
  for _, spec in ipairs(require('xcsh.commands_gen')) do
    local name = spec.name:gsub('^xcsh%.', '')
    if spec.palette and not name:find('.', 1, true) then
      table.insert(want, 'Xcsh' .. name:gsub('^%l', string.upper))
    end
  end
  table.insert(want, 'XcshTeam')
  for name in pairs(vim.api.nvim_get_commands({})) do
    if vim.startswith(name, 'Xcsh') then
      table.insert(got, name)
    end
  end
  table.sort(want)
  table.sort(got)
  eq(want, got)
end)

case(':XcshTeam completes its commands', function()
  local all = vim.fn.getcompletion('XcshTeam ', 'cmdline')
  for _, spec in ipairs(require('xcsh.commands_gen')) do
    local name = spec.palette and spec.name:match('^xcsh%.team%.(%l+)$')
    eq(true, not name or vim.tbl_contains(all, name), spec.name)
  end
  eq({ 'share' }, vim.fn.getcompletion('XcshTeam sh', 'cmdline'))
end)

case(':Xcsh completes the names of commands', function()
  local all = vim.fn.getcompletion('Xcsh ', 'cmdline')
  eq(#require('xcsh.commands_gen'), #all)
  eq(true, vim.tbl_contains(all, 'resume'))
  eq({ 'export' }, vim.fn.getcompletion('Xcsh exp', 'cmdline'))
end)

case(':Xcsh completes the main argument of a command, once', function()
  eq({ 'target=' }, vim.fn.getcompletion('Xcsh resume ', 'cmdline'))
  eq({}, vim.fn.getcompletion('Xcsh resume target=x ', 'cmdline'))
end)

case(':XcshExport completes files, with their spaces', function()
  local file = harness.folder('work/my notes') .. '/a b.html'
  vim.fn.writefile({}, file)
  eq({ 'my notes/' }, vim.fn.getcompletion('XcshExport m', 'cmdline'))
  -- Neovim replaces only the last word.
  eq({ 'notes/a b.html' }, vim.fn.getcompletion('XcshExport my notes/a', 'cmdline'))
  eq({ 'b.html' }, vim.fn.getcompletion('XcshExport my notes/a b', 'cmdline'))
end)

case('a missing server is reported in one message, and nothing keeps running', function()
  vim.g.xcsh_ls_cmd = '/nowhere/xcsh-ls'
  vim.cmd('XcshList')
  local note = harness.message('run the server')
  eq(
    'Couldn\'t run the server "/nowhere/xcsh-ls": install it, add it to PATH, '
      .. 'or set g:xcsh_ls_cmd.',
    note.message
  )
  eq(vim.log.levels.ERROR, note.level)
  eq({}, vim.lsp.get_clients())
end)

case('a server that exits immediately is reported and can be restarted', function()
  vim.g.xcsh_ls_cmd = 'false'
  vim.cmd('XcshList')
  like('exited with status 1', harness.message('^The xcsh%-ls server').message)
  runner.wait('the client to be gone', function()
    return #vim.lsp.get_clients() == 0
  end)
  vim.g.xcsh_ls_cmd = vim.env.XCSH_TEST_SERVER
  vim.cmd('XcshList')
  harness.message('^No sessions found%.$')
end)

case('setup() takes priority over the global variable', function()
  vim.g.xcsh_ls_cmd = '/nowhere/xcsh-ls'
  require('xcsh').setup({ cmd = { vim.env.XCSH_TEST_SERVER, '--stdio' } })
  vim.cmd('XcshList')
  harness.message('^No sessions found%.$')
end)

case('an error names the unknown command', function()
  vim.cmd('Xcsh rezume')
  eq('Unknown command: rezume', harness.message('Unknown command').message)
end)

case('an invalid JSON argument is rejected by the plugin', function()
  vim.cmd('Xcsh list limit:=many')
  eq('The value of "limit" is not valid JSON.', harness.message('JSON').message)
  vim.cmd('Xcsh list {limit: 1}')
  harness.message('^The argument is not a valid JSON object%.$')
end)

case(':checkhealth shows the server, its version, and the log', function()
  vim.cmd('checkhealth xcsh')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  like(vim.pesc(vim.env.XCSH_TEST_SERVER) .. ': %S', text)
  like('Log: .*lsp%.log', text)
  like('The server is not running', text)
  like('xcsh%-ls · current', text)
  like('Sessions can be saved in .*%.xcsh/agent', text)
  like('Models ready to use: offline', text)
  like('Neovim does not run in a terminal', text)
  like('Picker: select %(installed: none%)', text)
  eq(nil, text:find('ERROR', 1, true))
  require('xcsh').setup({ init_options = { model = 'offline/demo' } })
  harness.execute('xcsh.state')
  vim.cmd('checkhealth xcsh')
  text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  like('The server and the plugin use protocol version 1', text)
  like('Model for new sessions: offline/demo', text)
end)

case(':checkhealth explains how to set the server', function()
  vim.g.xcsh_ls_cmd = '/nowhere/xcsh-ls'
  vim.cmd('checkhealth xcsh')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  like('ERROR.*set g:xcsh_ls_cmd', text)
end)

case('terminal IDs have the same form as those of the terminal programs', function()
  local list_uis, chan_info = vim.api.nvim_list_uis, vim.api.nvim_get_chan_info
  local terminal = require('xcsh.terminal')
  eq(nil, terminal.id()) -- there is no screen
  local info =
    { stream = 'socket', client = { attributes = { pid = tostring(vim.uv.os_getpid()) } } }
  vim.api.nvim_get_chan_info = function()
    return info
  end
  local ui = { stdout_tty = true, chan = 1 }
  vim.api.nvim_list_uis = function()
    return { ui }
  end
  -- This process has no terminal on its standard input, so the variables decide.
  vim.env.TMUX_PANE = '%7'
  eq('tmux-%7', terminal.id())
  vim.env.KITTY_WINDOW_ID = '3/../4'
  eq('kitty-3----4', terminal.id())
  info = { stream = 'socket' } -- the UI can be on any machine
  eq(nil, terminal.id())
  ui = { stdout_tty = false, chan = 1 } -- a GUI
  eq(nil, terminal.id())
  vim.api.nvim_list_uis, vim.api.nvim_get_chan_info = list_uis, chan_info
  vim.env.TMUX_PANE, vim.env.KITTY_WINDOW_ID = nil, nil
  require('xcsh').setup({ init_options = { terminalId = 'mine' } })
  eq('mine', harness.execute('xcsh.state').terminalId)
end)

case('statusline() works as a lualine component', function()
  eq('', require('xcsh').statusline({ options = {} }))
end)
