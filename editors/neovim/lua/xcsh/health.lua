-- :checkhealth xcsh

local config = require('xcsh.config')

local M = {}

---The version of the custom methods that this plugin supports.
M.wire_version = 1

---@param cmd string[]
---@param argument string
---@return boolean ok, string said
local function run(cmd, argument)
  local ok, done = pcall(function()
    return vim.system({ cmd[1], argument }, { text = true }):wait(10000)
  end)
  if not ok then
    return false, tostring(done)
  end
  local said = done.stdout ~= '' and done.stdout or done.stderr or ''
  return done.code == 0, vim.trim(said)
end

---@return string[]? cmd
local function check_server()
  local health = vim.health
  local cmd, problem = config.command()
  if not cmd then
    health.error(problem --[[@as string]])
    return nil
  end
  local ok, said = run(cmd, 'version')
  if ok then
    health.ok(('%s: %s'):format(vim.fn.exepath(cmd[1]), said))
    return cmd
  end
  health.error(('"%s version" failed: %s'):format(cmd[1], said))
end

---@param client vim.lsp.Client
local function check_wire(client)
  local experimental = client.server_capabilities.experimental
  local version = vim.tbl_get(experimental or {}, 'xcsh', 'wireVersion')
  if version == M.wire_version then
    vim.health.ok(('The server and the plugin use protocol version %d.'):format(version))
  else
    local text =
      'The server uses protocol version %s and the plugin version %d. Update the older one.'
    vim.health.error(text:format(tostring(version), M.wire_version))
  end
end

local function check_connection()
  local health = vim.health
  local client = require('xcsh.client').get()
  if not client then
    health.info('The server is not running. The first command starts it.')
  else
    check_wire(client)
    health.ok('The server is running for:')
    for _, folder in ipairs(client.workspace_folders or {}) do
      health.info(folder.name)
    end
  end
  -- The server's stderr ends up here.
  health.info('Log: ' .. require('vim.lsp.log').get_filename())
end

---Checks the agent directory, which contains the sessions. The server creates it if it is missing.
local function check_agent_dir()
  local options = config.options.init_options or {}
  local dir = vim.fs.normalize(options.agentDir or '~/.xcsh/agent')
  local there = dir
  while not vim.uv.fs_stat(there) and vim.fs.dirname(there) ~= there do
    there = vim.fs.dirname(there)
  end
  if vim.uv.fs_access(there, 'W') then
    vim.health.ok(('Sessions can be saved in %s.'):format(dir))
  else
    vim.health.error(('The directory %s is not writable.'):format(there))
  end
end

---Reports the server's environment: sessions, models with an API key, and whether commands can be
---sandboxed.
---@param cmd string[]
local function check_environment(cmd)
  local ok, said = run(cmd, 'doctor')
  local report = ok and vim.health.info or vim.health.warn
  report(('Output of "%s doctor":\n%s'):format(cmd[1], said))
  local model = vim.tbl_get(config.options, 'init_options', 'model')
  if model then
    vim.health.info('Model for new sessions: ' .. model)
  end
end

---Runs a command of the server and waits for its result.
---@param name string
---@param args? table
---@return xcsh.Error? err, table result
local function ask(name, args)
  local err, result
  local done = false
  require('xcsh.client').execute(name, args or {}, function(...)
    err, result = ...
    done = true
  end)
  vim.wait(20000, function()
    return done
  end, 20)
  if not done then
    err = { message = ('The server did not answer %s in time.'):format(name) }
  end
  return err, require('xcsh.wire').tbl(result)
end

---Reports whether a prompt can be answered now, and the next step. Starts the server if it is not
---running.
local function check_ready()
  local wire, text = require('xcsh.wire'), require('xcsh.text')
  local err, state = ask('xcsh.state')
  if err then
    return vim.health.warn(err.message)
  end
  local ready, model = wire.tbl(state.ready), wire.tbl(state.model)
  if ready.ok ~= false then
    local name = wire.str(model.id)
    local said = name ~= '' and text.one_line(name, 80) .. ' answers. ' or ''
    return vim.health.ok(said .. 'Next step: :XcshChat opens the chat.')
  end
  vim.health.warn(text.one_line(wire.str(ready.message), 300), {
    'Next step: run :XcshLogin to use an installed agent or a local model, or to enter an API key.',
    'To try the chat without a model, run ":XcshModel offline/demo".',
  })
end

---Reports whether changes of files are recorded, and what waits for a review.
local function check_changes()
  local health, wire = vim.health, require('xcsh.wire')
  local client = require('xcsh.client')
  if not client.can('xcsh.changes') then
    return health.warn('The server does not record changes of files. Update it to use :XcshRewind.')
  end
  local err, result = ask('xcsh.changes', { since = 'session', pending = true })
  if err then
    return health.warn(err.message)
  end
  local capture = vim.tbl_get(config.options, 'init_options', 'changes', 'capture') or 'all'
  if capture == 'off' then
    health.info('Changes of files are not recorded (changes.capture is "off").')
  else
    local totals = require('xcsh.changes.pending').words(result.totals)
    health.ok(('Changes of files are recorded. To review in this session: %s.'):format(totals))
  end
  if result.interrupted == true then
    health.warn('A rewind was interrupted. The next change completes it or undoes it.')
  end
  for _, limit in ipairs(wire.tbl(result.limits)) do
    health.info(require('xcsh.text').one_line(wire.str(wire.tbl(limit).text), 400))
  end
end

---Lists the programs that can answer. Starts the server if it is not running.
function M.engines()
  local health = vim.health
  -- The server runs each program to learn its version.
  local err, result = ask('xcsh.engines')
  if err then
    return health.warn(err.message)
  end
  local engines = require('xcsh.engines')
  for _, item in ipairs(require('xcsh.wire').tbl(result.engines)) do
    local usable = require('xcsh.wire').tbl(item).usable == true
    local report = usable and health.ok or health.info
    report(engines.line(item))
  end
end

---@type table<string, fun(server: string, problem: string)>
local store_reports = {
  off = function(server)
    vim.health.info(
      server ~= '' and ('Nothing is shared with the team store %s.'):format(server)
        or 'No team store is set up, or nothing is shared with it. See ":help :XcshTeam".'
    )
  end,
  ok = function(server)
    vim.health.ok(('The team store %s can be reached.'):format(server))
  end,
  offline = function(_, problem)
    vim.health.warn(
      problem ~= '' and problem or 'The team store cannot be reached.',
      { 'Conversations go on here, and are sent when the store can be reached again.' }
    )
  end,
  refused = function(_, problem)
    vim.health.error(problem ~= '' and problem or 'The team store refused the connection.')
  end,
}

---Reports whether a team store is set up and can be reached, as the server knows: it connects to
---nothing for it.
function M.team()
  local wire, text = require('xcsh.wire'), require('xcsh.text')
  if not require('xcsh.client').can('xcsh.team.status') then
    return vim.health.info('The server does not support a team store.')
  end
  local err, status = ask('xcsh.team.status')
  if err then
    return vim.health.warn(text.one_line(err.message, 300))
  end
  local report = store_reports[wire.str(status.state)]
  local problem = text.one_line(wire.str(status.problem), 400)
  if not report then
    return vim.health.warn('The state of the team store is unknown.')
  end
  report(text.one_line(wire.str(status.server), 200), problem)
  local unsent = require('xcsh.team').count(status.unsentSessions)
  if unsent > 0 then
    vim.health.info(('Sessions that are not sent yet: %d.'):format(unsent))
  end
end

local function check_editor()
  local health = vim.health
  local terminal = config.terminal_id()
  if terminal then
    health.ok(
      ('Terminal %s: "xcsh --continue" in it continues the session of Neovim.'):format(terminal)
    )
  else
    health.info('Neovim does not run in a terminal, so "xcsh --continue" cannot find its session.')
  end
  local pickers = require('xcsh.pickers')
  local found = pickers.found()
  local names = #found > 0 and table.concat(found, ', ') or 'none'
  health.info(('Picker: %s (installed: %s)'):format((pickers.backend()), names))
  if pcall(vim.treesitter.language.inspect, 'markdown') then
    health.ok('The chat is highlighted by the Markdown parser for treesitter.')
  else
    health.info(
      'No Markdown parser for treesitter is installed. The chat uses syntax highlighting.'
    )
  end
  health.info((':XcshDump! copies to register %s.'):format(config.register()))
end

function M.check()
  vim.health.start('xcsh: server')
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok('Neovim ' .. tostring(vim.version()))
  else
    vim.health.error('Neovim 0.10 or later is required.')
  end
  local cmd = check_server()
  check_connection()
  vim.health.start('xcsh: sessions and models')
  check_agent_dir()
  if cmd then
    check_environment(cmd)
    check_ready()
    vim.health.start('xcsh: changes')
    check_changes()
    vim.health.start('xcsh: engines')
    M.engines()
    vim.health.start('xcsh: team')
    M.team()
  end
  vim.health.start('xcsh: this editor')
  check_editor()
end

return M
