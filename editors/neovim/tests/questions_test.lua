-- Questions of the engine's extensions: announced, opened by the user's own command, answered once.

local chats = require('chats')
local child = require('child')
local harness = require('harness')
local runner = require('runner')
local scripted = require('scripted')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local open, text_of, wait_for, at, press =
  chats.open, chats.text_of, chats.wait_for, chats.at, chats.press

---@param method string
---@param more? table
local function question(method, more)
  return vim.tbl_extend('force', {
    type = 'question_asked',
    id = 'q-' .. method,
    method = method,
    title = 'Which\27 one?',
  }, more or {})
end

---Starts a server whose session is used without a chat.
local function start()
  local server = scripted.start()
  harness.execute('xcsh.state')
  return server
end

local function pending()
  return require('xcsh.waiting').count()
end

case('a list is announced, and the choice is the answer', function()
  local server = start()
  server:event(question('select', { options = { 'red', 'gr\27een' } }))
  harness.message('^Pending %(:XcshApprovals%): Which␛ one%?$')
  eq({}, harness.asked)
  harness.answer('gr␛een')
  vim.cmd('XcshApprovals')
  eq({ { id = 'q-select', value = 'gr\27een' } }, server:wait_for('xcsh.answer'))
  eq({ { prompt = 'Which␛ one?: ', lines = { 'red', 'gr␛een' } } }, harness.asked)
  eq(0, pending())
end)

case('the model asks with descriptions, for several options and for own answers', function()
  local server = start()
  server:event(vim.tbl_extend('force', question('select', { options = { 'a', 'b', 'c' } }), {
    from = 'model',
    title = 'Which?',
    descriptions = { 'first', '', '' },
    recommended = 1,
    multi = true,
    other = true,
    number = 1,
    of = 2,
  }))
  harness.answer('b · recommended')
  harness.answer('Other answer…')
  harness.type('my own')
  vim.cmd('XcshApprovals')
  eq({ { id = 'q-select', value = 'my own', values = { 'b' } } }, server:wait_for('xcsh.answer'))
  eq({
    prompt = 'Which? (1 of 2): ',
    lines = { 'Done', 'a · first', 'b · recommended', 'c', 'Other answer…' },
  }, harness.asked[1])
  eq('Which? (1 of 2)\nSelected: b: ', harness.asked[2].prompt)
end)

case('closing a list or a line cancels the question', function()
  local server = start()
  server:event(question('select', { options = { 'red' } }))
  server:event(question('input', { placeholder = 'a name\27' }))
  harness.close_question()
  harness.close_question()
  vim.cmd('XcshApprovals')
  vim.cmd('XcshApprovals')
  eq({
    { id = 'q-select', cancelled = true },
    { id = 'q-input', cancelled = true },
  }, server:wait_for('xcsh.answer', 2))
  eq('Which␛ one? (a name␛): ', harness.asked[2].prompt)
end)

case('a confirmation is answered with yes or no', function()
  local server = start()
  for i, answer in ipairs({ 'Yes', 'No' }) do
    server:event(question('confirm', { id = 'q' .. i, message = 'Delete\nall?' }))
    harness.answer(answer)
    vim.cmd('XcshApprovals')
  end
  eq({
    { id = 'q1', confirmed = true },
    { id = 'q2', confirmed = false },
  }, server:wait_for('xcsh.answer', 2))
  eq('Which␛ one?\nDelete\nall?: ', harness.asked[1].prompt)
end)

case('a line is the answer, also an empty one', function()
  local server = start()
  for i, text in ipairs({ 'a name', '' }) do
    server:event(question('input', { id = 'q' .. i }))
    harness.type(text)
    vim.cmd('XcshApprovals')
  end
  eq({
    { id = 'q1', value = 'a name' },
    { id = 'q2', value = '' },
  }, server:wait_for('xcsh.answer', 2))
end)

case('a long question is cut', function()
  local server = start()
  local message = ('line\n'):rep(1000)
  server:event(question('confirm', { title = ('x'):rep(1e6), message = message }))
  harness.close_question()
  vim.cmd('XcshApprovals')
  server:wait_for('xcsh.answer')
  eq(21, #vim.split(harness.asked[1].prompt, '\n'))
  eq(true, #harness.asked[1].prompt < 5000)
  eq(true, #harness.notified[1].message < 500)
end)

case('questions are opened in their order, one after the other', function()
  local server = start()
  for _, name in ipairs({ 'first', 'second', 'third' }) do
    server:event(question('input', { id = name, title = name }))
  end
  for _ = 1, 3 do
    harness.type('x')
    vim.cmd('XcshApprovals')
  end
  eq(
    { 'first: ', 'second: ', 'third: ' },
    vim.tbl_map(function(asked)
      return asked.prompt
    end, harness.asked)
  )
  vim.cmd('XcshApprovals')
  harness.message('^Nothing is pending%.$')
  eq(3, #server:wait_for('xcsh.answer', 3))
end)

case('a text is edited in a buffer, and writing it answers', function()
  local server = start()
  server:event(question('editor', { prefill = 'one\ntwo\27' }))
  local before = vim.api.nvim_get_current_win()
  eq(1, #vim.api.nvim_list_wins())
  vim.cmd('XcshApprovals')
  eq({ 'one', 'two\27' }, vim.api.nvim_buf_get_lines(0, 0, -1, false))
  eq({ 'acwrite', 'xcsh-question', false, false }, {
    vim.bo.buftype,
    vim.bo.filetype,
    vim.bo.modified,
    vim.bo.modeline,
  })
  like('Which␛ one%? · :w to answer', vim.b.xcsh_title)
  press('u') -- the text of the extension stays
  press('Gothree<Esc>')
  local bufnr = vim.api.nvim_get_current_buf()
  -- Opened again, it is the same window.
  vim.api.nvim_set_current_win(before)
  vim.cmd('XcshApprovals')
  eq(bufnr, vim.api.nvim_get_current_buf())
  vim.cmd('write')
  eq({ { id = 'q-editor', value = 'one\ntwo\27\nthree' } }, server:wait_for('xcsh.answer'))
  wait('the end of the buffer', function()
    return not vim.api.nvim_buf_is_valid(bufnr)
  end)
  eq({ before }, vim.api.nvim_list_wins())
end)

for _, command in ipairs({ 'wq', 'x' }) do
  case((':%s in the buffer answers'):format(command), function()
    local server = start()
    server:event(question('editor', { prefill = 'one' }))
    vim.cmd('XcshApprovals')
    press('Atwo<Esc>')
    vim.cmd(command)
    eq({ { id = 'q-editor', value = 'onetwo' } }, server:wait_for('xcsh.answer'))
    eq(1, #vim.api.nvim_list_wins())
  end)
end

case('closing the buffer cancels, and the cursor returns to its window', function()
  local server = start()
  vim.cmd('split | split')
  vim.cmd('2wincmd w')
  local before = vim.api.nvim_get_current_win()
  server:event(question('editor'))
  vim.cmd('XcshApprovals')
  vim.cmd('quit')
  eq({ { id = 'q-editor', cancelled = true } }, server:wait_for('xcsh.answer'))
  eq(before, vim.api.nvim_get_current_win())
end)

case('a question that is taken back is removed, also while its buffer is open', function()
  local server = start()
  server:event(question('input'))
  server:event({ type = 'question_gone', id = 'q-input' })
  eq(0, pending())
  vim.cmd('XcshApprovals')
  harness.message('^Nothing is pending%.$')

  server:event(question('editor'))
  vim.cmd('XcshApprovals')
  press('imine<Esc>')
  server:event({ type = 'question_gone', id = 'q-editor' })
  like('no longer pending', vim.b.xcsh_title)
  eq('mine', vim.api.nvim_get_current_line()) -- the user may want it
  vim.cmd('write')
  harness.message('^This question is no longer pending%.$')
  vim.cmd('quit!')
  eq({}, server:args('xcsh.answer'))
end)

case('the buffer of a question that is taken back closes if it has no text of the user', function()
  local server = start()
  local before = vim.api.nvim_get_current_win()
  server:event(question('editor', { prefill = 'one' }))
  vim.cmd('XcshApprovals')
  vim.api.nvim_set_current_win(before)
  server:event({ type = 'question_gone', id = 'q-editor' })
  eq({ before }, vim.api.nvim_list_wins())
  eq({}, server:args('xcsh.answer'))
end)

case('a question ends at its time', function()
  local server = start()
  local seconds = vim.uv.gettimeofday()
  server:event(question('input', { id = 'past', ['until'] = (seconds - 10) * 1000 }))
  server:event(question('input', { id = 'later', ['until'] = (seconds + 3600) * 1000 }))
  server:event(question('input', { id = 'never', ['until'] = 1e300 }))
  wait('the end of one', function()
    return pending() == 2
  end)
  local ids = vim.tbl_map(function(left)
    return left.id
  end, require('xcsh.questions').pending(vim.fn.getcwd()))
  eq({ 'later', 'never' }, ids)
end)

case('an answer that comes too late is not sent', function()
  local server = start()
  local answer
  vim.ui.input = function(_, done)
    answer = done
  end
  server:event(question('input'))
  vim.cmd('XcshApprovals')
  server:event({ type = 'question_gone', id = 'q-input' })
  answer('late')
  harness.message('^This question is no longer pending%.$')
  eq({}, server:args('xcsh.answer'))
end)

case('an answer that the server refuses is reported', function()
  local server = start()
  server.answers['xcsh.answer'] = function()
    return { code = -32000, message = 'No question has the id "q-input".' }
  end
  server:event(question('input'))
  harness.type('x')
  vim.cmd('XcshApprovals')
  harness.message('^No question has the id')
end)

case('the end of the engine takes its questions back', function()
  local server = start()
  server:event(question('input'))
  server:event(question('select', { options = { 'x' } }))
  eq(2, pending())
  server:engine(scripted.pi({ state = 'failed', message = 'pi ended.' }))
  eq(0, pending())
end)

case('the chat shows the questions, and A answers the oldest', function()
  local server = scripted.start()
  local chat = open()
  server:event(question('confirm', { message = 'Really?' }))
  server:event(question('input', { title = 'And then?' }))
  wait_for(chat, '%? Which␛ one%? Really%? · press A to answer\n%? And then%?\n')
  eq({}, harness.notified)
  eq('question pending · :XcshApprovals', require('xcsh.chat.windows').bar('input'))
  at(chat, '? Which')
  harness.answer('Yes')
  press('A')
  eq({ { id = 'q-confirm', confirmed = true } }, server:wait_for('xcsh.answer'))
  server:event({ type = 'question_gone', id = 'q-confirm' })
  wait_for(chat, '^%? And then%? · press A to answer\n')
  server:event({ type = 'question_gone', id = 'q-input' })
  wait('the end of the questions', function()
    return not text_of(chat):find('press A', 1, true)
  end)
  at(chat, 'No messages yet')
  press('A')
  harness.message('^No question is pending%.$')
end)

case('questions of the snapshot are restored, others removed', function()
  local server = scripted.start()
  local asked = question('input')
  asked.type = nil
  server.questions = { asked, 'x', { id = 'y' } }
  local chat = open()
  wait_for(chat, '%? Which␛ one%? · press A')
  eq(1, pending())
  server.questions = {}
  require('xcsh.chat').again(chat, true)
  wait('no question', function()
    return pending() == 0
  end)
end)

case('a question is announced when the chat that shows it is closed', function()
  local server = scripted.start()
  open()
  server:event(question('input'))
  eq({}, harness.notified)
  require('xcsh').toggle()
  harness.message('Pending %(:XcshApprovals%): Which␛ one')
end)

case('an extension cannot ask without end', function()
  local server = start()
  for i = 1, 300 do
    server:event(question('input', { id = 'q' .. i }))
  end
  eq(100, pending())
end)

case('a question that arrives while the user is typing consumes no key', function()
  local folder = harness.folder('work')
  vim.fn.writefile({ 'mine' }, folder .. '/b.txt')
  local editor = child.start(folder .. '/b.txt')
  local ok, problem = xpcall(function()
    editor:lua(
      [[
      vim.cmd.cd(...)
      _G.server = require('scripted').start()
      require('xcsh').execute('xcsh.state')
    ]],
      folder
    )
    editor:wait('the server', 'return #_G.server:args("xcsh.state") > 0')
    editor:type('A: ')
    for _, method in ipairs({ 'select', 'confirm', 'input', 'editor' }) do
      editor:lua('_G.server:event(...)', question(method, { options = { 'x' } }))
      editor:type('1<CR>y')
      eq({ 'i', 'b.txt', '' }, editor:place())
    end
    eq({ 'mine: 1', 'y1', 'y1', 'y1', 'y' }, editor:lines('b.txt'))
    editor:type('<Esc>:XcshApprovals<CR>1<CR>')
    editor:wait('the answer', 'return #_G.server:args("xcsh.answer") > 0')
    eq({ { id = 'q-select', value = 'x' } }, editor:lua('return _G.server:args("xcsh.answer")'))
  end, debug.traceback)
  editor:stop()
  if not ok then
    error(problem, 0)
  end
end)
