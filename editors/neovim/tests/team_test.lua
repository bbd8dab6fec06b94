-- Sessions of the team store: the state, consent, lists, and texts of other users.

local harness = require('harness')
local runner = require('runner')
local scripted = require('scripted')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

---Starts a server with a store.
---@param status? table
local function start(status)
  local server = scripted.start()
  server.answers['xcsh.team.status'] = status
    or { state = 'ok', unsentSessions = 0, unsentBytes = 0 }
  return server
end

---Returns the text of the buffer once it is shown.
local function shown(name)
  wait('the buffer ' .. name, function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://' .. name
  end)
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
end

---Sends the state of the store, and waits until it is known.
local function tell(server, state, unsent)
  server:event({ type = 'team_state', state = state, unsent = unsent })
end

local function team()
  return require('xcsh').team()
end

case(':XcshTeam status shows the state of the store', function()
  start({
    state = 'offline',
    server = 'db.acme.example/sessions',
    user = 'ann',
    tls = 'verified',
    unsentSessions = 3,
    unsentBytes = 4500000,
    since = '2026-02-16T10:20:30Z',
    problem = 'The team store cannot be reached (db.acme.example: connection refused).',
  })
  vim.cmd('XcshTeam status')
  eq(
    table.concat({
      'State    cannot be reached',
      'Server   db.acme.example/sessions',
      'User     ann',
      'TLS      verified',
      'Unsent   3 sessions (4.5 MB)',
      'Since    2026-02-16T10:20:30Z',
      'Problem  The team store cannot be reached (db.acme.example: connection refused).',
    }, '\n'),
    shown('team')
  )
end)

case(':XcshTeam status of a real server without a store', function()
  vim.cmd('XcshTeam status')
  eq('State    nothing is shared', shown('team'))
end)

case('the statusline shows the store from events, without a request', function()
  local server = start()
  eq('', team())
  harness.execute('xcsh.state')
  local calls = #server.calls
  for _, step in ipairs({
    { 'ok', 3, 'team: 3 unsent' },
    { 'offline', 0, 'team: offline' },
    { 'offline', 2, 'team: offline, 2 unsent' },
    { 'refused', 0, 'team: refused' },
    { 'ok', 0, '' },
    { 'off', 5, '' },
    { 'off', 0, '' },
  }) do
    tell(server, step[1], step[2])
    wait('the state ' .. vim.inspect(step), function()
      return team() == step[3]
    end)
  end
  eq(calls, #server.calls)
  tell(server, 'ok', 1)
  wait('the last state', function()
    return team() ~= ''
  end)
  require('xcsh').stop()
  wait('the end of the server', function()
    return team() == ''
  end)
end)

---Collects the reports of :checkhealth about the store.
local function health()
  local module, reported = vim.health, {}
  vim.health = setmetatable({}, {
    __index = function(_, level)
      return function(message)
        table.insert(reported, level .. ': ' .. message)
      end
    end,
  })
  local ok, problem = pcall(require('xcsh.health').team)
  vim.health = module
  eq({ true }, { ok, problem })
  return reported
end

case(':checkhealth says whether the store is set up and can be reached', function()
  local server = start({ state = 'off', unsentSessions = 0 })
  harness.execute('xcsh.state')
  like('^info: No team store is set up', health()[1])
  server.answers['xcsh.team.status'] =
    { state = 'ok', server = 'db.acme.example/s', unsentSessions = 2 }
  eq({
    'ok: The team store db.acme.example/s can be reached.',
    'info: Sessions that are not sent yet: 2.',
  }, health())
  server.answers['xcsh.team.status'] = { state = 'offline', problem = 'It cannot be reached.' }
  eq({ 'warn: It cannot be reached.' }, health())
  server.answers['xcsh.team.status'] = { state = 'refused', problem = 'Unknown role\nann2' }
  eq({ 'error: Unknown role ann2' }, health())
  eq({ 'xcsh.team.status' }, { server.calls[#server.calls].name })
end)

case(':checkhealth without a store', function()
  vim.cmd('checkhealth xcsh')
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  like('No team store is set up', text)
end)

---Answers xcsh.team.share like a server whose plans have the given readers, one after the other.
---@param server Scripted
---@param readers integer[]
---@param sent string[] the tokens that were accepted
local function plans(server, readers, sent)
  local made = 0
  server.answers['xcsh.team.share'] = function(args)
    if args.planToken then
      if args.planToken ~= args.scope .. made then
        return { message = 'The plan is stale.', data = { kind = 'stale' } }
      end
      table.insert(sent, args.planToken)
      return nil, { shared = args.scope }
    end
    made = made + 1
    local of = readers[made] or readers[#readers]
    return nil,
      {
        server = 'db.acme.example/sessions',
        user = 'ann',
        tls = 'verified',
        team = 'core',
        readers = of,
        older = 42,
        examples = { 'github: a.jsonl, line 3' },
        text = ("Send this project's conversations?\ncore can read them: %d people."):format(of),
        planToken = args.scope .. made,
      }
  end
end

local question = "Send this project's conversations?\ncore can read them: %d people."

case(':XcshTeam share shows the plan, and sends nothing before the answer', function()
  local server, sent = start(), {}
  plans(server, { 12 }, sent)
  local text
  harness.choose(function(lines)
    eq({ 'From now on', 'Also the older ones', 'Show what is replaced', 'Not now' }, lines)
    eq({}, sent)
    text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    return 4
  end)
  vim.cmd('XcshTeam share')
  harness.message('^Nothing was sent to the team%.$')
  eq(question:format(12), text)
  eq(question:format(12) .. ': ', harness.asked[1].prompt)
  eq({ { scope = 'new' } }, server:args('xcsh.team.share'))
  eq({}, sent)
  -- The window of the plan is closed.
  eq(1, #vim.api.nvim_list_wins())
  harness.close_question()
  vim.cmd('XcshTeam share')
  wait('the question', function()
    return #harness.asked == 2
  end)
  eq({}, sent)
end)

case(':XcshTeam share carries out the plan that was shown', function()
  local server, sent = start(), {}
  plans(server, { 12 }, sent)
  harness.answer('Show what is replaced')
  harness.answer('From now on')
  vim.cmd('XcshTeam share')
  harness.message('^From now on, the conversations')
  eq({ 'new1' }, sent)
  like('people%.\n\n• github: a%.jsonl, line 3', harness.asked[2].prompt)
  eq({ 'From now on', 'Also the older ones', 'Not now' }, harness.asked[2].lines)
  -- The older ones have a plan of their own, whose readers are the same.
  harness.answer('Also the older ones')
  vim.cmd('XcshTeam share')
  harness.message('the older ones, too%.$')
  eq({ 'new1', 'all3' }, sent)
end)

case('a plan that has changed is shown again', function()
  local server, sent = start(), {}
  plans(server, { 12, 13 }, sent)
  harness.answer('Also the older ones')
  harness.answer('Also the older ones')
  vim.cmd('XcshTeam share')
  harness.message('the older ones, too%.$')
  harness.message('^The plan has changed%. Nothing was sent%.$')
  eq(question:format(13) .. ': ', harness.asked[2].prompt)
  eq({ 'all2' }, sent)
end)

case('a stale token leads to a new plan, but not for ever', function()
  local server, sent = start(), {}
  plans(server, { 12 }, sent)
  local plan = server.answers['xcsh.team.share']
  local stale = 1
  server.answers['xcsh.team.share'] = function(args)
    if args.planToken and stale > 0 then
      stale = stale - 1
      return { message = 'It is stale.', data = { kind = 'stale' } }
    end
    return plan(args)
  end
  harness.answer('From now on')
  harness.answer('Not now')
  vim.cmd('XcshTeam share')
  harness.message('^Nothing was sent to the team%.$')
  eq({}, sent)
  stale = 100
  for _ = 1, 6 do
    harness.answer('From now on')
  end
  vim.cmd('XcshTeam share')
  harness.message('^It is stale%.$')
  eq({}, sent)
end)

case('a project without a remote gets a name, and an end of sharing is confirmed', function()
  local server = start()
  server.answers['xcsh.team.share'] = function(args)
    if args.scope == 'off' then
      return nil, { shared = 'off' }
    elseif not args.name then
      return {
        message = 'The project needs a name.',
        data = { kind = 'argumentNeeded', field = 'name', input = 'text' },
      }
    elseif args.planToken then
      return nil, { shared = args.scope }
    end
    return nil, { text = 'Send?', planToken = 't' }
  end
  harness.type('boats')
  harness.answer('From now on')
  vim.cmd('XcshTeam share')
  harness.message('^From now on, the conversations')
  eq({ scope = 'new', name = 'boats', planToken = 't' }, server:args('xcsh.team.share')[3])
  harness.answer('Cancel')
  vim.cmd('XcshTeam share off')
  eq(3, #server:args('xcsh.team.share'))
  harness.answer('Stop sharing')
  vim.cmd('XcshTeam share off')
  harness.message('^Nothing more is sent')
  eq({ 'new', 'all', 'session', 'off' }, vim.fn.getcompletion('XcshTeam share ', 'cmdline'))
end)

case('a plan that is not one is neither shown as agreed nor sent', function()
  local server = start()
  server.answers['xcsh.team.share'] = { text = 'x\27[2J\n' .. ('y'):rep(10000), older = 'many' }
  harness.answer('From now on')
  vim.cmd('XcshTeam share')
  harness.message('cannot be carried out')
  eq(nil, harness.asked[1].prompt:find('\27', 1, true))
  eq({ 'From now on', 'Show what is replaced', 'Not now' }, harness.asked[1].lines)
  eq(1, #server:args('xcsh.team.share'))
end)

case(':XcshTeam share of a real server without a store', function()
  vim.cmd('XcshTeam share')
  harness.message('^No team store is set up%.')
  eq({}, harness.asked)
end)

---Answers xcsh.list like a server with sessions of a folder and of its project in the store.
---@param server Scripted
local function lists(server)
  local cwd = vim.fn.getcwd()
  local here = { id = 'a', name = 'Here', path = cwd .. '/a.jsonl', cwd = cwd, modified = 'now' }
  local own = vim.tbl_extend('force', here, { id = 'b', name = 'Shared', path = cwd .. '/b.jsonl' })
  own.team = { sid = 's-b', owner = 'Ann', unsent = 4400, newer = 12, variant = 0 }
  local far = { id = 'c', name = 'Theirs\27[2J', path = '', cwd = '/elsewhere', modified = 'now' }
  far.team = { sid = 's-c', owner = 'Bob\nX', writer = "Bob's laptop", remote = true }
  server.answers['xcsh.list'] = function(args)
    return nil, { sessions = args.scope == 'team' and { far, own } or { here } }
  end
  server.answers['xcsh.resume'] = function(args)
    return nil, { switched = true, session = { title = args.target, cwd = cwd, sessionId = 'x' } }
  end
end

case('the list of sessions shows those of the team with <C-t>, and resumes them', function()
  local server = start()
  lists(server)
  harness.execute('xcsh.state')
  tell(server, 'ok', 0)
  wait('the store', function()
    return require('xcsh.team').is_on()
  end)
  vim.cmd('XcshList')
  eq('Here', vim.split(shown('sessions'), ' · ')[1])
  vim.api.nvim_feedkeys(vim.keycode('<C-t>'), 'xt', false)
  wait('the sessions of the team', function()
    return vim.api.nvim_buf_line_count(0) == 2
  end)
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  like("by Bob X · being written on Bob's laptop · not on this machine$", lines[1])
  like('^Shared · .*by Ann · not sent yet: 4 kB · newer in the store: 12 bytes$', lines[2])
  eq(nil, lines[1]:find('\27', 1, true))
  -- What needs a file is not offered for a session without one.
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  for _, key in ipairs({ '<C-f>', '<C-e>', '<C-x>' }) do
    harness.notified = {}
    vim.api.nvim_feedkeys(vim.keycode(key), 'xt', false)
    harness.message('is not on this machine')
  end
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'xt', false)
  harness.message('^Resumed ')
  eq({ { target = 's-c' } }, server:args('xcsh.resume'))
  vim.cmd('XcshList')
  wait('the list', function()
    return vim.api.nvim_buf_get_name(0) == 'xcsh://sessions'
  end)
  vim.api.nvim_feedkeys(vim.keycode('<C-t>'), 'xt', false)
  vim.api.nvim_feedkeys(vim.keycode('<C-t>'), 'xt', false)
  wait('the sessions of the folder again', function()
    return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]:find('^Here')
  end)
end)

case('<C-t> is there with a store only', function()
  local server = start({ state = 'off', unsentSessions = 0 })
  lists(server)
  vim.cmd('XcshList')
  shown('sessions')
  eq('', vim.fn.maparg('<C-t>', 'n'))
end)

---Makes a server answer workspace/textDocumentContent with a text.
---@param server Scripted
---@param texts string[] the answers, one after the other; the last one is repeated
local function contents(server, texts)
  local request, n = server.request, 0
  server.request = function(self, method, params, callback)
    if method ~= 'workspace/textDocumentContent' then
      return request(self, method, params, callback)
    end
    n = n + 1
    callback(nil, { text = texts[math.min(n, #texts)] })
  end
end

case(':XcshTeam follow shows a conversation that grows', function()
  local server = start()
  local uri = 'xcsh-team:///s-c.md'
  local longer = '# Theirs\n\nOne\n\nTwo\27]0;x\7\nvim: set foldmethod=expr:\n'
  contents(server, { '# Theirs\n\nOne\n', longer })
  server.answers['xcsh.team.follow'] = function()
    coroutine.wrap(function()
      local params = { uri = uri, takeFocus = true }
      server.dispatchers.server_request('window/showDocument', params)
    end)()
    return nil, { uri = uri }
  end
  vim.cmd('XcshTeam follow s-c')
  wait('the document', function()
    return vim.api.nvim_buf_get_lines(0, 2, 3, false)[1] == 'One'
  end)
  local bufnr = vim.api.nvim_get_current_buf()
  eq({ false, false, uri }, { vim.bo.modifiable, vim.bo.modeline, vim.api.nvim_buf_get_name(0) })
  vim.cmd('normal! G')
  eq(vim.NIL, server:ask('workspace/textDocumentContent/refresh', { uri = uri }))
  wait('the new text', function()
    return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n'):find('Two')
  end)
  eq(vim.api.nvim_buf_line_count(bufnr), vim.api.nvim_win_get_cursor(0)[1])
  eq('manual', vim.wo.foldmethod)
  -- It is shown again in the same buffer, also when the server asks for it.
  eq({ success = true }, server:ask('window/showDocument', { uri = uri, takeFocus = true }))
  eq(bufnr, vim.api.nvim_get_current_buf())
  eq({ success = false }, server:ask('window/showDocument', { uri = 'xcsh-session:///x.md' }))
  eq({ success = false }, server:ask('window/showDocument', { uri = 'xcsh-team:///../x.md' }))
  vim.cmd.bwipeout()
  eq({ source = 's-c', stop = true }, server:wait_for('xcsh.team.follow', 2)[2])
end)
