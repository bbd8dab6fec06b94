-- Completion of the engine's commands in the prompt of a chat.

local child = require('child')
local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local scripted = require('scripted')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local open, window_of = chats.open, chats.window_of

local commands = {
  { name = 'review', description = 'Review the\27 changes', source = 'prompt' },
  { name = 'reload', source = 'extension' },
  { name = 'skill:pdf', source = 'skill' },
  { name = 'two words' },
  { name = 'esc\27ape' },
  { name = '' },
  'text',
}

---Opens a chat and calls its completion function.
---@param server Scripted
local function prompt(server)
  server.answers['xcsh.commands'] = { commands = commands }
  local chat = open()
  vim.api.nvim_set_current_win(window_of(chat.input))
  return chat
end

---@param chat xcsh.chat.Chat
---@param text string
local function write(chat, text)
  require('xcsh.chat.input').set(chat, text)
  vim.api.nvim_exec_autocmds('TextChanged', { buffer = chat.input })
end

---Returns what the completion function offers at the end of the prompt.
local function offered(base)
  local slash = require('xcsh.chat.slash')
  local words = {}
  for _, item in ipairs(slash.complete(0, base)) do
    table.insert(words, item.abbr)
  end
  return words
end

case('the commands are requested once, when the user types a slash', function()
  local server = scripted.start()
  local chat = prompt(server)
  write(chat, 'hello / there')
  eq({}, server:args('xcsh.commands'))
  write(chat, '/')
  server:wait_for('xcsh.commands')
  wait('the commands', function()
    return #offered('/') == 3
  end)
  eq({ '/review', '/reload', '/skill:pdf' }, offered('/'))
  eq({ '/review', '/reload' }, offered('/RE'))
  eq({}, offered('/nothing'))
  eq('Review the␛ changes', require('xcsh.chat.slash').complete(0, '/review')[1].menu)
  write(chat, '/r')
  eq(1, #server:args('xcsh.commands'))
  for _, option in ipairs({ 'omnifunc', 'completefunc' }) do
    like('xcsh%.chat%.slash', vim.bo[chat.input][option])
  end
end)

case('only the beginning of the prompt is a command', function()
  local chat = prompt(scripted.start())
  local slash = require('xcsh.chat.slash')
  for text, start in pairs({
    ['/re'] = 0,
    ['x /re'] = -3,
    ['/re view'] = -3,
    ['one\n/re'] = -3,
    [''] = -3,
  }) do
    require('xcsh.chat.input').set(chat, text)
    vim.cmd('startinsert!')
    vim.api.nvim_win_set_cursor(0, { vim.fn.line('$'), 1000 })
    eq({ text, start }, { text, slash.complete(1, '') })
  end
end)

case('the commands are requested again after another start, and after another choice', function()
  local server = scripted.start()
  local chat = prompt(server)
  write(chat, '/')
  server:wait_for('xcsh.commands')
  wait('the commands', function()
    return #offered('/') == 3
  end)
  server:engine(scripted.pi({ state = 'running' }))
  server:engine(scripted.pi())
  write(chat, '/r')
  eq(1, #server:args('xcsh.commands'))

  server:engine(scripted.pi({ state = 'known' }))
  server.answers['xcsh.commands'] = { commands = { { name = 'other' } } }
  write(chat, '/')
  server:wait_for('xcsh.commands', 2)
  wait('the other commands', function()
    return vim.deep_equal({ '/other' }, offered('/'))
  end)

  server:engine({ name = 'own', state = 'ready', can = {} })
  server.answers['xcsh.commands'] = { commands = {} }
  write(chat, '/x')
  server:wait_for('xcsh.commands', 3)
  wait('no commands', function()
    return #offered('/') == 0
  end)
end)

case('a list that arrives after another engine was chosen is not used', function()
  local server = scripted.start()
  local chat = prompt(server)
  server.holds['xcsh.commands'] = true
  write(chat, '/')
  server:wait_for('xcsh.commands')
  server:engine(scripted.pi({ name = 'omp' }))
  server.answers['xcsh.commands'] = function()
    return nil, { commands = { { name = 'late' } } }
  end
  server:release()
  server.answers['xcsh.commands'] = { commands = {} }
  eq({}, offered('/'))
end)

case('a list that starts the engine is used', function()
  local server = scripted.start(scripted.pi({ state = 'known' }))
  local chat = prompt(server)
  server.holds['xcsh.commands'] = true
  write(chat, '/')
  server:wait_for('xcsh.commands')
  server:engine(scripted.pi({ state = 'starting' }))
  server:engine(scripted.pi())
  server:release()
  wait('the commands', function()
    return #offered('/') == 3
  end)
  eq(1, #server:args('xcsh.commands'))
end)

case('typing does not start an engine again and again that fails', function()
  local server = scripted.start(scripted.pi({ state = 'known' }))
  local chat = prompt(server)
  server.answers['xcsh.commands'] = function()
    server:engine(scripted.pi({ state = 'failed', message = 'pi ended.' }))
    return { code = -32000, message = 'pi ended.', data = { kind = 'provider' } }
  end
  write(chat, '/')
  server:wait_for('xcsh.commands')
  for _, text in ipairs({ '/r', '/re', '/rev' }) do
    write(chat, text)
  end
  eq(1, #server:args('xcsh.commands'))
  -- The user's key does.
  server.answers['xcsh.commands'] = { commands = commands }
  vim.api.nvim_win_set_cursor(0, { 1, 4 })
  require('xcsh.chat.slash').key(chat)
  server:wait_for('xcsh.commands', 2)
end)

---Starts a Neovim with a typing user in the prompt of a chat.
---@param setup string a chunk of Lua
---@param body fun(editor: Child)
local function with_child(setup, body)
  local editor = child.start(harness.folder('work') .. '/a.txt')
  local ok, problem = xpcall(function()
    editor:lua([[
      _G.server = require('scripted').start()
    ]])
    editor:lua('_G.server.answers["xcsh.commands"] = ...', { commands = commands })
    editor:lua(setup)
    editor:type(':XcshChat<CR>')
    editor:wait('the chat', 'return require("xcsh.chat").get().state.sync.live')
    body(editor)
  end, debug.traceback)
  editor:stop()
  if not ok then
    error(problem, 0)
  end
end

---@param editor Child
local function line(editor)
  return editor:lua('return vim.api.nvim_get_current_line()')
end

case('<Tab> lists the commands and selects one', function()
  with_child('', function(editor)
    editor:type('i/re<Tab>')
    editor:wait('the list', 'return vim.fn.pumvisible() == 1')
    eq('/review ', line(editor))
    editor:type('<Tab>')
    eq('/reload ', line(editor))
    editor:type('now<Tab>!')
    eq('/reload now\t!', line(editor))
  end)
end)

case('<Tab> shows the list when it arrives, unless the user has typed something else', function()
  with_child('_G.server.holds["xcsh.commands"] = true', function(editor)
    editor:type('i/rev<Tab>')
    editor:wait('the request', 'return #_G.server:args("xcsh.commands") == 1')
    eq('/rev', line(editor))
    editor:lua('_G.server:release()')
    eq('/review ', line(editor))
    editor:lua([[
      _G.server.holds['xcsh.commands'] = true
      _G.server:engine(require('scripted').pi({ state = 'known' }))
    ]])
    editor:type('<C-u>/rev<Tab>')
    editor:wait('the request', 'return #_G.server:args("xcsh.commands") == 2')
    editor:type('<C-u>so /r')
    editor:lua('_G.server:release()')
    eq('so /r', line(editor))
  end)
end)

case("a user's own mapping of <Tab> is kept", function()
  with_child([[vim.keymap.set('i', '<Tab>', 'mine')]], function(editor)
    editor:type('i/re<Tab>')
    eq('/remine', line(editor))
  end)
end)

case('<C-x><C-o> and <C-x><C-u> complete, too', function()
  with_child('', function(editor)
    editor:type('i/')
    editor:wait('the commands', 'return #require("xcsh.chat.slash").complete(0, "/") == 3')
    editor:type('rev<C-x><C-o>')
    eq('/review ', line(editor))
    editor:type('<C-u>/rel<C-x><C-u>')
    eq('/reload ', line(editor))
  end)
end)

case('a hint names the key', function()
  local server = scripted.start()
  local chat = prompt(server)
  write(chat, '/')
  server:wait_for('xcsh.commands')
  wait('the hint', function()
    local marks = vim.api.nvim_buf_get_extmarks(chat.input, -1, 0, -1, { details = true })
    return vim.inspect(marks):find('<Tab> completes a command', 1, true)
  end)
end)

case('the commands are requested again after skills or templates changed', function()
  local server = scripted.start()
  local chat = prompt(server)
  write(chat, '/')
  server:wait_for('xcsh.commands')
  wait('the commands', function()
    return #offered('/') == 3
  end)
  server.answers['xcsh.commands'] =
    { commands = { { name = 'skill:new', argumentHint = 'arguments' } } }
  server:event({ type = 'commands_changed' })
  write(chat, '/s')
  server:wait_for('xcsh.commands', 2)
  wait('the new skill', function()
    return vim.deep_equal({ '/skill:new arguments' }, offered('/'))
  end)
end)

case(':XcshCommands begins a prompt', function()
  local server = scripted.start()
  local chat = prompt(server)
  local asked
  local select = vim.ui.select
  vim.ui.select = function(items, opts, done) ---@diagnostic disable-line: duplicate-set-field
    asked = vim.tbl_map(opts.format_item, items)
    done(items[1])
  end
  vim.cmd('XcshCommands')
  wait('the choice', function()
    return require('xcsh.chat.input').text(chat) == '/review '
  end)
  vim.ui.select = select
  eq('/review · Review the␛ changes', asked[1])
end)

case(':XcshTrust shows what the folder brings, and records the decision', function()
  local server = scripted.start()
  local parts = {
    {
      kind = 'server',
      name = 'docs',
      path = '/w/.omp/mcp.json',
      starts = 'npx docs',
      used = false,
    },
    { kind = 'skill', name = 's', path = '/w/.omp/skills/s/SKILL.md', used = false },
  }
  server.answers['xcsh.trust'] =
    { state = 'untrusted', folder = '/w', program = 'omp', brings = parts }
  local asked
  local select = vim.ui.select
  vim.ui.select = function(items, opts, done) ---@diagnostic disable-line: duplicate-set-field
    asked = vim.tbl_map(opts.format_item, items)
    done(items[2])
  end
  vim.cmd('XcshTrust')
  server:wait_for('xcsh.trust', 2)
  vim.ui.select = select
  eq({
    'Use',
    'Use without servers',
    "Don't use (current)",
    '  server docs: npx docs',
    '  skill s: /w/.omp/skills/s/SKILL.md',
  }, asked)
  eq('without-servers', server:args('xcsh.trust')[2].decision)
  vim.cmd('XcshTrust none')
  server:wait_for('xcsh.trust', 3)
  eq('none', server:args('xcsh.trust')[3].decision)
end)

case('the typed line stands over an invoked skill or template', function()
  local typed = require('xcsh.chat.prompt').typed
  local pi =
    '<skill name="lint" location="/l/SKILL.md">\nReferences are relative to /l.\n\nLint.\n</skill>'
  local custom = { role = 'custom', customType = 'skill-prompt', content = 'BODY', display = true }
  local function with(details)
    return { message = vim.tbl_extend('error', custom, { details = details }) }
  end
  eq('/skill:a x', typed(with({ name = 'a', prompt = '/skill:a x' })))
  eq('/skill:a x', typed(with({ name = 'a', args = 'x' })))
  eq('/skill:lint', typed({ message = { role = 'user', content = pi } }))
  eq('/skill:lint x', typed({ message = { role = 'user', content = pi .. '\n\nx' } }))
  eq(
    '/review x',
    typed({ typed = '/review x', message = { role = 'user', content = 'Review x.' } })
  )
  eq(nil, typed({ message = { role = 'user', content = 'see ' .. pi } }))
  local page = require('xcsh.chat.draw').item({
    message = vim.tbl_extend('error', custom, { details = { name = 'a', args = 'x' } }),
    calls = {},
  })
  local lines = table.concat(page.lines, '\n')
  like('You', lines)
  like('\n/skill:a x\n', lines)
  like('BODY', lines)
  eq(1, #page.folds)
end)
