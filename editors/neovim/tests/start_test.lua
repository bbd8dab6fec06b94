-- The start page, :Xcsh without an argument.

local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local first, second = '15d56a686bbe6801', '25d56a686bbe6802'
local keys = {
  '',
  '  n  new session',
  '  l  all sessions of this folder',
  '  c  chat',
  '  p  commands',
  '  q  close this page',
}

---@param id string
---@param question string
---@param age integer in hours
local function session(id, question, age)
  local path = harness.session(vim.fn.getcwd(), id, question, 'Well.')
  local changed = os.time() - age * 3600 - 60
  assert(vim.uv.fs_utime(path, changed, changed))
  return path
end

local function two_sessions()
  session(first, 'How do boats float?', 2)
  session(second, 'Why is the sky blue?', 1)
end

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

---Returns the lines of the sessions.
local function listed()
  return vim.list_slice(lines(), 3, #lines() - #keys)
end

local function open()
  vim.cmd('Xcsh')
  wait('the page', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://start'
  end)
  return vim.api.nvim_get_current_buf()
end

local function press(text)
  vim.api.nvim_feedkeys(vim.keycode(text), 'xt', false)
end

---Waits until the chat has the focus and the page is gone.
---@param page integer
local function wait_for_chat(page)
  wait('the chat', function()
    return require('xcsh.chat').of_buffer(vim.api.nvim_get_current_buf())
  end)
  eq(false, vim.api.nvim_buf_is_valid(page))
  eq(true, require('xcsh.chat').visible(vim.fn.getcwd()))
end

case('the newest sessions come first, then the keys', function()
  two_sessions()
  open()
  eq({
    'xcsh · work',
    '',
    '  1  Why is the sky blue? · 1h ago',
    '  2  How do boats float? · 2h ago',
    unpack(keys),
  }, lines())
  eq(3, vim.api.nvim_win_get_cursor(0)[1])
  eq(false, vim.bo.modifiable)
  eq({}, harness.notified)
end)

case('a digit resumes its session and opens the chat', function()
  two_sessions()
  local page = open()
  press('2')
  wait_for_chat(page)
  eq(first, harness.execute('xcsh.state').sessionId)
end)

case('<CR> resumes the session under the cursor', function()
  two_sessions()
  local page = open()
  press('<CR>')
  wait_for_chat(page)
  eq(second, harness.execute('xcsh.state').sessionId)
end)

case('a digit without a session and <CR> beside the sessions do nothing', function()
  two_sessions()
  local page = open()
  press('3')
  press('gg<CR>')
  press('G<CR>')
  eq(page, vim.api.nvim_get_current_buf())
  eq(0, harness.execute('xcsh.state').messageCount)
  eq({}, harness.notified)
end)

case('a session that cannot be resumed keeps the page', function()
  two_sessions()
  local page = open()
  local sessions = vim.fn.glob(vim.env.HOME .. '/.xcsh/agent/sessions/*/*_' .. first .. '.jsonl')
  eq(0, vim.fn.delete(sessions))
  press('2')
  eq(vim.log.levels.ERROR, harness.message('.').level)
  eq(page, vim.api.nvim_get_current_buf())
  eq(nil, require('xcsh.chat').get())
end)

case('at most nine sessions are shown', function()
  for i = 1, 12 do
    session(('%016x'):format(i), 'question ' .. i, i)
  end
  open()
  eq(9, #listed())
  eq('  9  question 9 · 9h ago', listed()[9])
end)

case('an empty folder says so, and n starts a session', function()
  local page = open()
  eq({ 'xcsh · work', '', 'This folder has no sessions yet.', unpack(keys) }, lines())
  press('1<CR>')
  eq(page, vim.api.nvim_get_current_buf())
  press('n')
  wait_for_chat(page)
  harness.message('^Started ')
end)

case('l lists the sessions, c opens the chat, p lists the commands, q closes the page', function()
  two_sessions()
  local before = #vim.api.nvim_list_wins()
  open()
  press('l')
  wait('the list', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://sessions'
  end)
  eq(2, #lines())
  vim.cmd.close()

  local page = open()
  harness.answer('Dump')
  press('p')
  harness.message('^No messages to dump yet%.$')
  eq(page, vim.api.nvim_get_current_buf())
  press('q')
  eq(false, vim.api.nvim_buf_is_valid(page))
  eq(before, #vim.api.nvim_list_wins())

  open()
  vim.cmd.only()
  press('q')
  eq('', vim.api.nvim_buf_get_name(0))
  page = open()
  press('c')
  wait_for_chat(page)
end)

case('keys act on the folder of the page', function()
  two_sessions()
  local work = vim.fn.getcwd()
  open()
  vim.cmd.cd(harness.folder('other'))
  press('1')
  wait('the chat', function()
    return require('xcsh.chat').visible(work)
  end)
  eq(second, harness.execute('xcsh.state', { cwd = work }).sessionId)
end)

case('hostile names stay on their line and are visible', function()
  session(first, 'a\27[31m\7 \226\128\174evil\226\129\166 \216\156x \194\155y', 1)
  open()
  eq(1, #listed())
  local text = listed()[1]
  like('^  1  a', text)
  like('evil.*x.*y · 1h ago$', text)
  eq(nil, text:find('[%z\1-\31\127]'))
  for _, raw in ipairs({ '\226\128\174', '\226\129\166', '\216\156', '\194\155' }) do
    eq(nil, text:find(raw, 1, true))
  end
end)

case('the answer of the server is not trusted', function()
  local render = require('xcsh.start').render
  local shown, digits = render('/a\nb\27/c\27\226\128\174\nd', {
    { path = '/1', name = 'x\n  2  y\0\27]0;t\7', timeAgo = '1h\n\226\128\174ago' },
    { path = '/2', name = vim.NIL, id = 'an\nid', timeAgo = {} },
    { path = '/3', name = ('z'):rep(9999) },
  })
  eq('xcsh · c␛<202e> d', shown[1])
  eq('  1  x 2 y␀␛]0;t␇ · 1h <202e>ago', shown[3])
  eq('  2  an id', shown[4])
  eq(true, #shown[5] < 250)
  eq({ [3] = 1, [4] = 2, [5] = 3 }, digits)
  eq('xcsh · /', (render('/', {}))[1])

  local client = require('xcsh.client')
  client.execute = function(_, _, callback)
    callback(nil, { sessions = { 1, vim.NIL, {}, { path = 7 }, { path = '/p', name = 'last' } } })
  end
  open()
  eq({ '  1  last' }, listed())
end)

case('the page follows a change of the session', function()
  two_sessions()
  local page = open()
  vim.api.nvim_win_set_cursor(0, { 4, 0 })
  session('35d56a686bbe6803', 'What is new?', 0)
  vim.cmd('XcshResume ' .. first)
  harness.message('^Resumed ')
  wait('the new session', function()
    return #listed() == 3
  end)
  like('What is new%?', table.concat(listed(), '\n'))
  eq(page, vim.api.nvim_get_current_buf())
  eq(4, vim.api.nvim_win_get_cursor(0)[1])
  eq(false, vim.bo.modifiable)
end)

case('a session of another folder does not reload the page', function()
  two_sessions()
  open()
  local asked = 0
  local client = require('xcsh.client')
  local execute = client.execute
  client.execute = function(name, ...)
    asked = asked + (name == 'xcsh.recent' and 1 or 0)
    return execute(name, ...)
  end
  vim.cmd.cd(harness.folder('other'))
  vim.cmd('XcshNew')
  harness.message('^Started ')
  eq(0, asked)
end)

case('the page does not take the focus from a user who continued with other work', function()
  two_sessions()
  vim.cmd('Xcsh')
  press('ix<Esc>')
  harness.message('Recent Sessions')
  eq({ 'x' }, lines())
  vim.cmd('XcshApprovals')
  eq('xcsh://start', vim.api.nvim_buf_get_name(0))
  vim.cmd('bwipeout! | set nomodified')
end)

case('a server that cannot start is reported', function()
  vim.g.xcsh_ls_cmd = '/nonexistent'
  vim.cmd('Xcsh')
  like("^Couldn't run the server", harness.message('.').message)
  eq('', vim.api.nvim_buf_get_name(0))
end)
