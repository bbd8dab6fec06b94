-- The part of a long conversation that a chat shows.

local chats = require('chats')
local children = require('child')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local open, press, text_of, window_of = chats.open, chats.press, chats.text_of, chats.window_of

local id = '15d56a686bbe6801'

---Writes a session of questions and answers, and returns its path. Every fifth answer reads a file.
---@param messages integer
local function long_session(messages)
  local path = harness.session(vim.fn.getcwd(), id, 'question 1', 'answer 2')
  local lines, parent, number = vim.fn.readfile(path), 'bbbbbbbb', 2
  local function add(role, content, more)
    number = number + 1
    local message = { role = role, content = content, timestamp = number }
    local entry = ('%08x'):format(number)
    table.insert(
      lines,
      vim.json.encode({
        type = 'message',
        id = entry,
        parentId = parent,
        timestamp = '2026-02-16T10:20:00.000Z',
        message = vim.tbl_extend('force', message, more or {}),
      })
    )
    parent = entry
  end
  local model = { provider = 'local', model = 'm', api = 'openai-completions', stopReason = 'stop' }
  while number < messages do
    add('user', 'question ' .. number + 1)
    if number < messages then
      local said, call = { { type = 'text', text = 'answer ' .. number + 1 } }, nil
      if number % 5 == 0 and number + 2 <= messages then
        call = { type = 'toolCall', id = 'c' .. number, name = 'read', arguments = { path = 'x' } }
        said[2] = call
      end
      add('assistant', said, model)
      if call then
        local text = { { type = 'text', text = 'result ' .. number + 1 } }
        add('toolResult', text, { toolCallId = call.id, toolName = 'read', isError = false })
      end
    end
  end
  vim.fn.writefile(lines, path)
  return path
end

local function resumed(messages)
  local path = long_session(messages)
  local chat = open()
  local began = vim.uv.hrtime()
  vim.cmd('XcshResume ' .. id)
  wait('the session', function()
    local session = chat.state.session
    return session and session.sessionId == id and chat.state.sync.live and not chat.pending
  end)
  local took = math.floor((vim.uv.hrtime() - began) / 1e6)
  io.stdout:write(('# a session of %d messages shown after %d ms\n'):format(messages, took))
  return chat, path
end

---Returns the numbers of the messages in the chat, including results of tool calls, in order.
local function numbers(chat)
  local wire, found = require('xcsh.wire'), {}
  local function add(message)
    found[#found + 1] = tonumber(wire.text_of(message):match('(%d+)'))
  end
  for _, list in ipairs({ chat.state.past and chat.state.past.items or {}, chat.state.items }) do
    for _, item in ipairs(list) do
      add(item.message)
      for _, call in pairs(item.calls) do
        if call.output then
          add(call.output)
        end
      end
    end
  end
  return found
end

---Checks that the numbers are consecutive, except for one gap, and returns the ranges.
local function ranges(chat)
  local found, all = {}, numbers(chat)
  for i, number in ipairs(all) do
    local range = found[#found]
    if range and number == all[i - 1] + 1 then
      range[2] = number
    else
      found[#found + 1] = { number, number }
    end
  end
  return found
end

---Returns the text at the top of the window and at its cursor.
local function place(chat)
  local window = window_of(chat.bufnr)
  return vim.api.nvim_win_call(window, function()
    local view = vim.fn.winsaveview()
    return { vim.fn.getline(view.topline), vim.fn.getline('.'), view.lnum - view.topline }
  end)
end

local function idle(chat)
  wait('the page', function()
    return not chat.loading.busy and not chat.pending and chat.state.sync.live
  end)
end

---Loads the page above and checks that the view stays.
local function load_above(chat)
  local window = window_of(chat.bufnr)
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_win_set_cursor(window, { 12, 0 })
  vim.fn.winrestview({ topline = 3, lnum = 12 })
  local before, first = place(chat), ranges(chat)[1][1]
  require('xcsh.chat.scroll').check(chat)
  eq(false, chat.loading.busy) -- nothing is missing in view
  vim.fn.winrestview({ topline = 1 })
  local top = place(chat)
  like('earlier messages$', top[1])
  require('xcsh.chat.scroll').check(chat)
  eq(true, chat.loading.busy)
  idle(chat)
  eq({ before[2], 11 }, { place(chat)[2], place(chat)[3] })
  eq(math.max(first - 100, 1), ranges(chat)[1][1])
end

case('a conversation of 12345 messages shows 100, and at most 1000', function()
  local chat = resumed(12345)
  eq({ { 12246, 12345 } }, ranges(chat))
  like('^⋯ 12,245 earlier messages\n\n', text_of(chat))
  local most, began = 0, vim.uv.hrtime()
  for _ = 1, 15 do
    load_above(chat)
    most = math.max(most, #numbers(chat))
    eq(true, #numbers(chat) <= 1000)
  end
  eq(true, most > 900)
  local took = math.floor((vim.uv.hrtime() - began) / 15e6)
  io.stdout:write(('# a page of 100 messages shown after %d ms\n'):format(took))
  -- The newest messages are still there, and the ones between are not.
  local found = ranges(chat)
  eq({ 2, 10746, 12345 }, { #found, found[1][1], found[2][2] })
  local missing = found[2][1] - found[1][2] - 1
  like(('\n⋯ %d more messages\n'):format(missing):gsub('(%d)(%d%d%d) ', '%1,%2 '), text_of(chat))
  like('^⋯ 10,745 earlier messages\n', text_of(chat))
end)

---Puts the line of the missing messages into view.
---@param row fun(rows: { first: integer, gap: integer, last: integer }): integer
local function look_at_gap(chat, row)
  local window = window_of(chat.bufnr)
  local gap = require('xcsh.chat.render').missing(chat.bufnr).more
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_win_set_cursor(window, { gap + row, 0 })
  vim.cmd('normal! zz')
  local before = place(chat)
  require('xcsh.chat.scroll').check(chat)
  eq(true, chat.loading.busy)
  idle(chat)
  eq({ before[2], before[3] }, { place(chat)[2], place(chat)[3] })
end

case('dropped messages are loaded again in both directions', function()
  local chat = resumed(2000)
  for _ = 1, 12 do
    load_above(chat)
  end
  local found = ranges(chat)
  eq(2, #found)
  look_at_gap(chat, -1)
  eq(found[1][2] + 100, ranges(chat)[1][2])
  eq(found[2][1], ranges(chat)[2][1])
  found = ranges(chat)
  look_at_gap(chat, 3)
  eq(found[2][1] - 100, ranges(chat)[2][1])
  while #ranges(chat) > 1 do
    local size = ranges(chat)[2][1] - ranges(chat)[1][2]
    look_at_gap(chat, 3)
    eq(true, #ranges(chat) == 1 or ranges(chat)[2][1] - ranges(chat)[1][2] < size)
    eq(true, #numbers(chat) <= 1000)
  end
  eq(nil, text_of(chat):find('more messages', 1, true))
  eq(2000, ranges(chat)[1][2])
  while ranges(chat)[1][1] > 1 do
    load_above(chat)
  end
  eq(nil, text_of(chat):find('earlier message', 1, true))
end)

---Shows a session of which the newest messages begin with the result of a call.
local function begins_with_result()
  local chat
  for messages = 320, 330 do
    chat = resumed(messages)
    if chat.state.items[1].message.role == 'toolResult' then
      break
    end
    require('xcsh').stop()
    vim.cmd('silent! %bwipeout!')
    wait('the end of the server', function()
      return #vim.lsp.get_clients() == 0
    end)
  end
  eq('toolResult', chat.state.items[1].message.role)
  return chat
end

case('a question about a call that is in another page is shown', function()
  local chat = begins_with_result()
  local prompt = { id = 'c', tool = 'read', args = {}, preview = {} }
  local event = { type = 'approvals_changed', approvals = { prompt } }
  local sync, before = chat.state.sync, chat.state.before
  require('xcsh.chat').show(chat, {
    type = 'notification',
    n = { cwd = chat.cwd, sessionId = sync.sessionId, seq = sync.seq + 1, event = event },
  })
  wait('one page', function()
    return chat.state.before == before - 100
  end)
  idle(chat)
  require('xcsh.chat.scroll').check(chat)
  eq(false, chat.loading.busy)
end)

case('a call whose result is in another page is shown with it', function()
  local chat = begins_with_result()
  load_above(chat)
  local count = 0
  for _, item in ipairs(chat.state.items) do
    eq(true, item.message.role ~= 'toolResult' or item == chat.state.items[1])
    for _, call in pairs(item.calls) do
      eq('done', call.status)
      count = count + 1
    end
  end
  eq(true, count > 10)
  eq({ { ranges(chat)[1][1], ranges(chat)[1][1] + 199 } }, ranges(chat))
end)

---Makes the client hold back the answers of xcsh.messages until the returned function is called.
local function holding()
  local client = require('xcsh.client')
  local execute, held = client.execute, {}
  client.execute = function(name, args, callback)
    if name ~= 'xcsh.messages' then
      return execute(name, args, callback)
    end
    execute(name, args, function(...)
      local answer = { ... }
      table.insert(held, function()
        callback(answer[1], answer[2])
      end)
    end)
  end
  return function()
    wait('the held answer', function()
      return #held > 0
    end)
    client.execute = execute
    for _, answer in ipairs(held) do
      answer()
    end
  end
end

case('events that arrive while a page is loading are neither lost nor doubled', function()
  local model = harness.model({ { text = 'answer 302', held = true } })
  local chat = resumed(300)
  local release = holding()
  vim.api.nvim_set_current_win(window_of(chat.bufnr))
  press('gg')
  require('xcsh.chat.scroll').check(chat)
  eq(true, chat.loading.busy)
  local view = place(chat)
  require('xcsh').execute('xcsh.prompt', { text = 'question 301' })
  wait('the answer to be held', function()
    return model.holding
  end)
  chats.wait_for(chat, '\nanswer\n')
  eq(view, place(chat))
  release()
  eq(false, chat.loading.busy)
  model:release()
  chats.wait_for(chat, 'answer 302')
  chats.settled(chat)
  eq({ { 101, 302 } }, ranges(chat))
  eq(vim.fn.bufwinid(chat.bufnr), vim.api.nvim_get_current_win())
end)

case('a page of a session that is no longer shown is ignored', function()
  local chat = resumed(300)
  local release = holding()
  vim.api.nvim_set_current_win(window_of(chat.bufnr))
  press('gg')
  require('xcsh.chat.scroll').check(chat)
  eq(true, chat.loading.busy)
  vim.cmd('XcshNew')
  chats.wait_for(chat, 'No messages yet')
  release()
  eq({}, numbers(chat))
  like('No messages yet', text_of(chat))
end)

case('a page is requested again if the session was reloaded meanwhile', function()
  local chat = resumed(300)
  local release = holding()
  vim.api.nvim_set_current_win(window_of(chat.bufnr))
  press('gg')
  require('xcsh.chat.scroll').check(chat)
  eq(true, chat.loading.busy)
  require('xcsh.chat').again(chat, true)
  chats.settled(chat)
  eq({ { 201, 300 } }, ranges(chat))
  release()
  eq({ { 201, 300 } }, ranges(chat))
  idle(chat)
  eq({ { 101, 300 } }, ranges(chat))
end)

case('pages of hidden messages are not loaded without end', function()
  local path = long_session(60)
  local lines, hidden = vim.fn.readfile(path), {}
  for i = 1, 1500 do
    hidden[i] = vim.json.encode({
      type = 'custom_message',
      id = ('f%07x'):format(i),
      parentId = i > 1 and ('f%07x'):format(i - 1) or vim.NIL,
      timestamp = '2026-02-16T10:20:00.000Z',
      customType = 'x',
      content = 'hidden',
      display = false,
    })
  end
  lines[2] = lines[2]:gsub('"parentId":null', '"parentId":"f00005dc"')
  vim.fn.writefile(vim.list_extend({ lines[1] }, vim.list_extend(hidden, lines, 2)), path)
  local chat = open()
  vim.cmd('XcshResume ' .. id)
  chats.wait_for(chat, '1,460 earlier messages')
  chats.settled(chat)
  vim.api.nvim_set_current_win(window_of(chat.bufnr))
  press('gg')
  require('xcsh.chat.scroll').check(chat)
  wait('five pages', function()
    return chat.loading.empty == 5 and not chat.loading.busy and not chat.pending
  end)
  eq(960, chat.state.before)
  like('^⋯ 960 earlier messages\n', text_of(chat))
  press('gg<CR>')
  wait('the next one', function()
    return chat.state.before < 960
  end)
end)

case('a stale cursor begins again, and a second one is an error', function()
  local chat = resumed(300)
  local client, render = require('xcsh.client'), require('xcsh.chat.render')
  local execute, snapshots = client.execute, 0
  client.execute = function(name, args, callback)
    snapshots = snapshots + (name == 'xcsh.snapshot' and 1 or 0)
    if name ~= 'xcsh.messages' then
      return execute(name, args, callback)
    end
    callback({ message = 'The session was rewritten.', data = { kind = 'stale' } })
  end
  local window = window_of(chat.bufnr)
  vim.api.nvim_set_current_win(window)
  press('gg')
  require('xcsh.chat.scroll').check(chat)
  eq(1, snapshots)
  idle(chat)
  chats.wait_for(chat, '✗ The session was rewritten%. Press <CR> to try again%.')
  eq(1, snapshots)
  client.execute = execute
  vim.api.nvim_win_set_cursor(window, { render.missing(chat.bufnr).earlier, 0 })
  press('<CR>')
  idle(chat)
  eq({ { 101, 300 } }, ranges(chat))
end)

case('the earlier messages stay when the snapshot is requested again', function()
  local chat = resumed(500)
  load_above(chat)
  load_above(chat)
  local before, lines = place(chat), vim.api.nvim_buf_line_count(chat.bufnr)
  require('xcsh.chat').again(chat)
  chats.settled(chat)
  eq({ before, lines, { { 201, 500 } } }, {
    place(chat),
    vim.api.nvim_buf_line_count(chat.bufnr),
    ranges(chat),
  })
  press('R')
  chats.settled(chat)
  eq(401, ranges(chat)[1][1])
end)

case('new messages are added at the end while the user reads earlier ones', function()
  harness.model({ { text = 'answer 2002' } })
  local chat = resumed(2000)
  for _ = 1, 11 do
    load_above(chat)
  end
  eq(2, #ranges(chat))
  local before = place(chat)
  require('xcsh').execute('xcsh.prompt', { text = 'question 2001' })
  chats.wait_for(chat, 'answer 2002')
  chats.settled(chat)
  eq(before, place(chat))
  eq(2002, ranges(chat)[2][2])
end)

case(':XcshSearchHere goes to a message that is not in the buffer', function()
  local chat, path = resumed(12345)
  local number = table.concat(vim.fn.readfile(path), '\n'):match('"question (4%d%d%d)"')
  vim.cmd('XcshSearchHere QUESTION ' .. number)
  wait('the message', function()
    return vim.api.nvim_get_current_line() == 'question ' .. number
  end)
  eq(chat.bufnr, vim.api.nvim_get_current_buf())
  number = assert(tonumber(number))
  local found = ranges(chat)
  eq({ number - 50, number + 49 }, found[1])
  eq({ 12246, 12345 }, found[2])
end)

case('g/ lists the messages with a text, newest first', function()
  local chat = resumed(300)
  vim.api.nvim_set_current_win(window_of(chat.bufnr))
  local client = require('xcsh.client')
  local execute = client.execute
  client.execute = function(name, args, callback)
    eq(nil, args.around)
    return execute(name, args, callback)
  end
  harness.type('Answer 29')
  harness.answer('answer 299')
  press('g/')
  wait('the message', function()
    return vim.api.nvim_get_current_line() == 'answer 299'
  end)
  local question = harness.asked[2]
  eq('Messages with "Answer 29"', question.prompt)
  like('^Answer   answer 299', question.lines[1])
  like('answer 29%f[%D]', question.lines[#question.lines])
  eq({ { 201, 300 } }, ranges(chat))
  require('xcsh.chat.search').find(chat, 'no such text')
  harness.message('^No message contains "no such text"%.$')
end)

case('a search that ends while the user types takes no focus', function()
  local chat = resumed(300)
  vim.api.nvim_set_current_win(window_of(chat.input))
  local release = holding()
  require('xcsh.chat.search').find(chat, 'question 17')
  press('iand then<Esc>')
  local window, before = vim.api.nvim_get_current_win(), place(chat)
  release()
  harness.message('Go to a message')
  eq({ window, before, {} }, { vim.api.nvim_get_current_win(), place(chat), harness.asked })
  eq('and then', chats.prompt_text(chat))
end)

case('scrolling with keys loads messages and keeps the screen', function()
  local path = long_session(300)
  local child = children.start('')
  child:lua('vim.g.xcsh_ls_cmd = ...', vim.env.XCSH_TEST_SERVER)
  child:lua('vim.cmd.cd(...)', vim.fn.getcwd())
  child:lua(
    [[vim.o.columns, vim.o.lines = 120, 40
    vim.cmd('XcshChat')
    vim.cmd('XcshResume ' .. ...)]],
    path
  )
  child:lua([[chat = require('xcsh.chat').get()]])
  child:wait('the session', [[return chat.state.before == 200 and not chat.pending]])
  child:type('<C-w>k')
  -- Half a screen at a time, until the line of the missing messages is in view.
  local ups = 0
  while child:lua('return chat.state.before') == 200 and ups < 100 do
    ups = ups + 1
    child:type('<C-u>')
    child:wait('the page', 'return not chat.loading.busy')
  end
  eq(100, child:lua('return chat.state.before'))
  local top = child:lua('return vim.fn.line("w0")')
  eq(true, top > 100)
  child:type('gg')
  child:wait('the next page', 'return chat.state.before == 0')
  child:type('gg')
  eq('## You', child:lua('return vim.api.nvim_get_current_line()'))
  eq('xcsh', child:lua('return vim.bo.filetype'))
  child:stop()
end)
