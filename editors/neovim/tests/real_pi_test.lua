-- A user of the real pi: a session of the terminal continues in the editor, with pi's own login,
-- commands and extensions, and in the terminal afterwards.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local service = require('service')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local send, text_of, wait_for = chats.send, chats.text_of, chats.wait_for

local deploy = [[
export default function (pi: any) {
  pi.registerCommand('deploy', {
    description: 'Deploy this folder',
    handler: async (_: string, ctx: any) => {
      const yes = await ctx.ui.confirm('Deploy now?', 'To staging.');
      ctx.ui.setStatus('deploy', yes ? 'deployed to staging' : 'not deployed');
    },
  });
}
]]

-- A login of this kind is known to pi only.
local subscription = [[
export default function (pi: any) {
  const refused = () => { throw new Error('This login is complete.'); };
  const login = { login: refused, refreshToken: refused, getApiKey: (kept: any) => kept.access };
  pi.registerProvider('local', { ...PROVIDER, oauth: { name: 'Subscription', ...login } });
}
]]

local skill = [[
---
name: changelog
description: Write the changelog of a release.
---

List what users notice.
]]

---@param name string in the directory of pi's configuration
---@param text string
local function configure(name, text)
  local dir = harness.folder(vim.fs.dirname('.pi/agent/' .. name))
  vim.fn.writefile(vim.split(text, '\n'), dir .. '/' .. vim.fs.basename(name))
end

---Installs pi for the user of the test, who is logged in to the model.
---@param model Service
---@param key string
---@return string path
local function install(model, key)
  local bin = harness.folder('.local/bin')
  assert(vim.uv.fs_symlink(vim.env.XCSH_TEST_REAL_PI, bin .. '/pi'))
  assert(vim.uv.fs_symlink(vim.env.XCSH_TEST_NODE, bin .. '/node'))
  local provider = model:provider()
  provider.apiKey = nil
  provider.models[1].reasoning = false
  provider.models[1].cost = { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }
  local function described()
    return vim.json.encode(provider)
  end
  configure('extensions/subscription.ts', (subscription:gsub('PROVIDER', described)))
  configure('extensions/deploy.ts', deploy)
  configure('skills/changelog/SKILL.md', skill)
  local login = { type = 'oauth', access = key, refresh = 'none', expires = 4102444800000 }
  configure('auth.json', vim.json.encode({ ['local'] = login }))
  local settings = { defaultProvider = 'local', defaultModel = 'm', enableInstallTelemetry = false }
  configure('settings.json', vim.json.encode(settings))
  vim.env.PI_OFFLINE = '1' -- it would look for a newer version
  return bin .. '/pi'
end

---Runs pi in the folder, like in a terminal, and returns what it prints.
---@param path string
---@param ... string
local function terminal(path, ...)
  local env = { PATH = vim.fs.dirname(path) .. ':' .. vim.env.PATH }
  local ran
  vim.system({ path, ... }, { env = env, text = true, cwd = vim.uv.cwd() }, function(done)
    ran = done
  end)
  wait('pi in the terminal', function() -- SystemObj.wait would not let the model answer
    return ran
  end)
  eq({ 0, '' }, { ran.code, ran.code == 0 and '' or ran.stderr })
  return ran.stdout
end

local function files()
  local dir = vim.env.HOME .. '/.pi/agent/sessions'
  return vim.fn.glob(dir .. '/*/*.jsonl', false, true)
end

---@param path string
local function read(path)
  return table.concat(vim.fn.readfile(path, 'b'), '\n')
end

---@param chat table
---@param pattern string
local function answered(chat, pattern)
  wait_for(chat, pattern)
  chats.settled(chat)
end

---Waits until the file begins with what it was, and has more.
---@param was string
---@param now string
local function only_appended(was, now)
  assert(#now > #was and now:sub(1, #was) == was, 'the session was not only appended to')
end

case('a session of the terminal continues in the editor, and in the terminal again', function()
  local edit = {
    id = 'call-1',
    name = 'edit',
    args = { path = 'a.txt', edits = { { oldText = 'two', newText = 'zwei' } } },
  }
  local model = service.listen({
    { text = 'I will remember it.' },
    { text = 'It was albatross.' },
    { text = 'One line changes.', calls = { edit } },
    { text = 'It is changed.' },
    { text = 'We changed a line.' },
    { text = 'The terminal asked about it.' },
  })
  local pi = install(model, 'key-of-the-user')
  terminal(pi, '-p', 'The word is albatross')
  local session = files()[1]
  local night = read(session)

  -- One question, and the same session continues.
  local path = chats.file('a.txt', { 'one', 'two' })
  vim.cmd.edit(path)
  local bufnr = vim.api.nvim_get_current_buf()
  local chat = chats.open()
  vim.cmd('XcshResume ' .. vim.json.decode(vim.fn.readfile(session, '', 1)[1]).id)
  wait_for(chat, 'I will remember it%.')
  -- pi records its system prompt as a message.
  assert(not text_of(chat):find('system', 1, true), text_of(chat))
  eq(night, read(session))
  send(chat, 'Which word was it?')
  harness.message('Pending %(:XcshApprovals%): pi %d+%.%d+%.%d+ is installed')
  harness.answer('Use pi')
  vim.cmd('XcshApprovals')
  answered(chat, 'It was albatross%.')
  wait('the bar', function()
    return require('xcsh.chat.windows').about(chat):find(' · pi %d+%.%d+%.%d+ · m')
  end)
  like('I will remember it%.', vim.json.encode(model.requests[2].messages))

  -- Its commands, and the question of an extension.
  vim.api.nvim_set_current_win(chats.window_of(chat.input))
  require('xcsh.chat.input').set(chat, '/')
  vim.api.nvim_exec_autocmds('TextChanged', { buffer = chat.input })
  local words
  wait('the commands', function()
    words = vim.tbl_map(function(item)
      return item.word
    end, require('xcsh.chat.slash').complete(0, '/'))
    return #words > 0
  end)
  assert(vim.tbl_contains(words, '/deploy ') and vim.tbl_contains(words, '/skill:changelog '))
  send(chat, '/deploy')
  wait_for(chat, '%? Deploy now%?')
  harness.answer('Yes')
  vim.cmd('XcshApprovals')
  wait_for(chat, 'deployed to staging')
  chats.settled(chat)

  -- An edit of a buffer with unsaved changes: shown before it is made, and undone at once.
  vim.api.nvim_buf_set_lines(bufnr, 0, 1, false, { 'unsaved' })
  vim.cmd('let &g:undolevels = &g:undolevels') -- the edit is a change of its own
  send(chat, 'translate the second line')
  wait_for(chat, '\n%-two\n%+zwei\n')
  like('\n unsaved\n', text_of(chat))
  eq({ 'unsaved', 'two' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  vim.api.nvim_set_current_win(chats.window_of(chat.bufnr))
  require('xcsh.chat.approve').arm(chat)
  chats.press('a')
  answered(chat, 'It is changed%.')
  eq({ 'unsaved', 'zwei' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  eq({ 'one', 'two' }, vim.fn.readfile(path))
  vim.api.nvim_buf_call(bufnr, function()
    vim.cmd('silent undo')
  end)
  eq({ 'unsaved', 'two' }, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))

  -- The terminal continues, and the editor after it.
  local day = read(session)
  only_appended(night, day)
  like('We changed a line%.', terminal(pi, '-p', '--continue', 'What did we change?'))
  only_appended(day, read(session))
  like('Which word was it.*It is changed%.', vim.json.encode(model.requests[5].messages))
  answered(chat, 'We changed a line%.')
  send(chat, 'And who asked?')
  answered(chat, 'The terminal asked about it%.')
  like('What did we change.*We changed a line%.', vim.json.encode(model.requests[6].messages))
  eq({ session }, files())
  for _, key in ipairs(model.keys) do
    eq('key-of-the-user', key)
  end
  model:close()
end)
