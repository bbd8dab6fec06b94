-- lsp/xcsh.lua: vim.lsp.enable('xcsh'), which Neovim 0.10 doesn't have.

if vim.fn.has('nvim-0.11') == 0 then
  return
end

local harness = require('harness')
local runner = require('runner')
local case, eq = runner.case, runner.eq

local plugin = vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2)))

---Runs in a Neovim that has only a copy of the configuration: opens a file, runs a command of the
---server and prints a description of the client.
local script = [[
  vim.opt.runtimepath:prepend(vim.env.ONLY)
  vim.lsp.config('xcsh', { cmd = { vim.env.XCSH_TEST_SERVER, '--stdio' } })
  vim.lsp.enable('xcsh')
  vim.cmd.edit(vim.env.FILE)
  local client
  vim.wait(20000, function()
    client = vim.lsp.get_clients({ bufnr = 0, name = 'xcsh' })[1]
    return client and client.initialized
  end, 5)
  local answer
  local command = { title = 'List', command = 'xcsh.list', arguments = { vim.empty_dict() } }
  client:exec_cmd(command, { bufnr = 0 }, function(err, result)
    answer = { err = err, sessions = result and #result.sessions }
  end)
  vim.wait(20000, function()
    return answer
  end, 5)
  answer.root = client.root_dir
  answer.loaded = package.loaded.xcsh ~= nil or vim.fn.exists(':Xcsh') == 2
  io.stdout:write(vim.json.encode(answer))
  vim.cmd('qall!')
]]

---@param file string
---@param folder string Neovim's current directory
local function alone(file, folder)
  local only, init = vim.fn.tempname(), vim.fn.tempname() .. '.lua'
  vim.fn.mkdir(only .. '/lsp', 'p')
  vim.fn.writefile(vim.fn.readfile(plugin .. '/lsp/xcsh.lua'), only .. '/lsp/xcsh.lua')
  vim.fn.writefile(vim.split(script, '\n'), init)
  local cmd = { vim.env.XCSH_TEST_NVIM, '--headless', '-n', '-i', 'NONE', '-u', 'NORC' }
  vim.list_extend(cmd, { '-c', 'luafile ' .. init })
  local env = { ONLY = only, FILE = file, HOME = vim.env.HOME }
  local done = vim.system(cmd, { cwd = folder, env = env, text = true }):wait(60000)
  eq({ 0, '' }, { done.code, done.stderr })
  return vim.json.decode(done.stdout)
end

case('vim.lsp.enable starts the server with the root of the file, without the plugin', function()
  local project = harness.folder('project')
  harness.folder('project/.git')
  harness.session(project, '019c6ab0-1111-7000-8000-000000000001', 'What is this?', 'A test.')
  local file = harness.folder('project/notes') .. '/plan.md'
  vim.fn.writefile({ '# Plan' }, file)
  eq({ root = project, sessions = 1, loaded = false }, alone(file, harness.folder('elsewhere')))
end)

case('a session file belongs to the current directory', function()
  local project = harness.folder('project')
  harness.folder('.xcsh/.git') -- users keep their configuration in a repository
  local id = '019c6ab0-1111-7000-8000-000000000002'
  local file = harness.session(project, id, 'What is this?', 'A test.')
  eq({ root = project, sessions = 1, loaded = false }, alone(file, project))
end)

case('with the plugin, vim.lsp.enable starts no second server', function()
  local started = 0
  vim.lsp.config('xcsh', {
    cmd = function(dispatchers)
      started = started + 1
      return vim.lsp.rpc.start({ vim.env.XCSH_TEST_SERVER, '--stdio' }, dispatchers)
    end,
  })
  vim.lsp.enable('xcsh')
  vim.fn.writefile({ '# Plan' }, 'plan.md')
  vim.cmd.edit('plan.md')
  eq('markdown', vim.bo.filetype)
  -- Neovim schedules the start, and scheduled functions run in order.
  local passed = false
  vim.schedule(function()
    passed = true
  end)
  runner.wait('the scheduled functions', function()
    return passed
  end)
  eq(0, started)
  harness.execute('xcsh.state')
  vim.lsp.enable('xcsh', false)
  eq(0, started)
end)

case("the plugin has a client of its own beside a configuration's", function()
  local other = assert(vim.lsp.start({
    name = 'xcsh',
    cmd = { vim.env.XCSH_TEST_SERVER, '--stdio' },
    root_dir = vim.fn.getcwd(),
  }, { attach = false }))
  runner.wait('its client', function()
    return vim.lsp.get_clients({ id = other })[1]
  end)
  harness.execute('xcsh.state')
  eq(2, #vim.lsp.get_clients({ name = 'xcsh' }))
  assert(vim.lsp.get_client_by_id(other)):stop()
end)
