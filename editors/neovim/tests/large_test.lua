-- Long lists and large sessions: everything is requested in pages.

local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

local id = '15d56a686bbe6801'

---Adds a chain of prompts and answers below an entry to the lines of a session.
---@param lines string[]
---@param name string
---@param above string?
---@param count integer
local function chain(lines, name, above, count)
  for i = 1, count do
    local role = i % 2 == 1 and 'user' or 'assistant'
    local entry = {
      type = 'message',
      id = ('%s%07d'):format(name, i),
      parentId = above or vim.NIL,
      timestamp = ('2026-02-16T10:20:%02d.%03dZ'):format(#lines / 1000, #lines % 1000),
      message = {
        role = role,
        content = { { type = 'text', text = ('%s %s %d'):format(role, name, i) } },
        timestamp = #lines,
      },
    }
    if role == 'assistant' then
      entry.message.stopReason, entry.message.provider, entry.message.model = 'stop', 'p', 'm'
      entry.message.api = 'anthropic-messages'
    end
    lines[#lines + 1] = vim.json.encode(entry)
    above = entry.id
  end
end

---Writes a session, and makes it the live one.
---@param lines string[] without the header
local function resumed(lines)
  local path = harness.session(vim.fn.getcwd(), id, 'x', 'y')
  local header = vim.fn.readfile(path, '', 1)
  vim.fn.writefile(vim.list_extend(header, lines), path)
  eq(true, harness.execute('xcsh.resume', { target = path }).switched)
end

---Records the requests of a command.
---@param name string
---@return table<string, any>[]
local function requests(name)
  local client = require('xcsh.client')
  local execute, asked = client.execute, {}
  client.execute = function(command, args, callback)
    if command == name then
      asked[#asked + 1] = args
    end
    return execute(command, args, callback)
  end
  return asked
end

---A session of more than a page: a conversation with two branches at its end.
local function large()
  local lines = {}
  chain(lines, 'a', nil, 1200)
  chain(lines, 'b', 'a0001200', 4)
  chain(lines, 'c', 'a0001200', 2)
  resumed(lines)
end

local function many_sessions(count)
  for i = 1, count do
    local name = ('15d56a68%08x'):format(i)
    harness.session(vim.fn.getcwd(), name, ('Question %d?'):format(i), 'Yes.')
  end
end

case('the picker requests 100 sessions, more on demand, and searches on the server', function()
  many_sessions(230)
  local asked = requests('xcsh.list')
  harness.answer('More sessions')
  harness.answer('Search sessions')
  harness.type('question 171')
  harness.answer('Question 171?')
  vim.cmd('XcshResume')
  harness.message('^Resumed ')
  eq({ 100, 100, 100 }, {
    asked[1].limit,
    asked[2].limit,
    asked[3].limit,
  })
  eq({ nil, '100', nil }, { asked[1].cursor, asked[2].cursor, asked[3].cursor })
  eq('question 171', asked[3].query)
  eq({ 102, 202 }, { #harness.asked[1].lines, #harness.asked[2].lines })
  like('%("question 171"%)$', harness.asked[4].prompt)
end)

case('a search without hits can be changed, or closed', function()
  many_sessions(101)
  harness.answer('Search sessions')
  harness.type('§§§')
  harness.answer('Search sessions')
  harness.close_question()
  vim.cmd('XcshResume')
  harness.message('^No session selected%.$')
  eq({ 'Search sessions' }, harness.asked[3].lines)
end)

case('a short list has only sessions', function()
  many_sessions(3)
  harness.close_question()
  vim.cmd('XcshResume')
  harness.message('^No session selected%.$')
  eq(3, #harness.asked[1].lines)
end)

case('the buffer of :XcshList loads more sessions', function()
  many_sessions(150)
  vim.cmd('XcshList')
  wait('the list', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://sessions'
  end)
  eq(101, vim.api.nvim_buf_line_count(0))
  vim.cmd('normal! G')
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'xt', false)
  wait('more sessions', function()
    return vim.api.nvim_buf_line_count(0) == 150
  end)
end)

case('the entries of a large session are offered in parts', function()
  large()
  local asked = requests('xcsh.tree')
  local messages = requests('xcsh.messages')
  harness.answer('Earlier messages')
  harness.answer('All branches')
  harness.answer('user: user a 1 · 1200 entries')
  harness.answer('More entries')
  harness.answer('user: user a 1199')
  vim.cmd('XcshLabel mark')
  harness.message('^Label saved%.$')
  like('^assistant: assistant c 2$', harness.asked[1].lines[1])
  eq(102, #harness.asked[1].lines)
  eq(202, #harness.asked[2].lines)
  eq({
    'user: user a 1 · 1200 entries',
    'user: user b 1 · 4 entries',
    'user: user c 1 · 2 entries',
  }, harness.asked[3].lines)
  eq({ 1002, 1200 }, { #harness.asked[4].lines, #harness.asked[5].lines })
  for _, args in ipairs(asked) do
    eq(true, args.limit <= 1000)
  end
  eq({ 100, 100 }, { messages[1].limit, messages[2].limit })
end)

case(':Xcsh tree shows a page, and the next one', function()
  large()
  vim.cmd('Xcsh tree')
  wait('the tree', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://tree'
  end)
  eq(1001, vim.api.nvim_buf_line_count(0))
  vim.cmd('normal! G')
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'xt', false)
  wait('the rest', function()
    return vim.api.nvim_buf_line_count(0) == 1206
  end)
  vim.cmd('Xcsh entries')
  wait('the entries', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://entries'
  end)
  local last = vim.api.nvim_buf_get_lines(0, -2, -1, false)[1]
  vim.cmd(assert(last:match('^%-%- The next page: :(Xcsh entries cursor=%S+)$')))
  wait('the next page', function()
    return vim.api.nvim_buf_get_lines(0, -2, -1, false)[1] ~= last
  end)
end)

---@param entry_id string
local function branches_at(entry_id)
  local answer
  local subject = { cwd = vim.fn.getcwd() }
  require('xcsh.tree').alternatives(subject, entry_id, function(err, found)
    answer = { err = err, found = found }
  end)
  wait('the branches', function()
    return answer
  end)
  eq(nil, answer.err)
  return vim.tbl_map(function(branch)
    return { branch.node.id, branch.leaf }
  end, answer.found)
end

case('branches at a prompt are found in runs, also behind settings', function()
  local lines = {}
  chain(lines, 'a', nil, 1200)
  chain(lines, 'b', 'a0001200', 4)
  local entry = { type = 'label', id = 'label001', parentId = 'a0001200', targetId = 'a0000001' }
  entry.label, entry.timestamp = 'mark', '2026-02-16T10:21:00.000Z'
  table.insert(lines, vim.json.encode(entry))
  chain(lines, 'c', 'label001', 2)
  chain(lines, 'd', 'c0000002', 2)
  chain(lines, 'e', 'c0000002', 2)
  resumed(lines)
  local asked = requests('xcsh.tree')
  eq({ { 'c0000001', 'e0000002' } }, branches_at('b0000001'))
  eq({ { 'b0000001', 'b0000004' } }, branches_at('c0000001'))
  eq({ { 'e0000001', 'e0000002' } }, branches_at('d0000001'))
  eq({}, branches_at('a0000003'))
  eq({}, branches_at('gone'))
  for _, args in ipairs(asked) do
    eq(true, args.fold and args.limit == 1000 or args.limit <= 20)
  end
end)
