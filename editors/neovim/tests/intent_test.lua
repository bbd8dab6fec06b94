-- Decisions need intent: if something arrives while the user types elsewhere, the next keys go to
-- the text that the user is typing, and decide nothing.

local child = require('child')
local harness = require('harness')
local runner = require('runner')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait

---Starts a Neovim with a.txt and b.txt, whose sessions use a model that is held until released.
---@param replies Answer[]
---@param options? table
---@param body fun(editor: Child, model: Service)
local function with_child(replies, options, body)
  local model = harness.model(replies, options)
  local folder = harness.folder('work')
  vim.fn.writefile({ 'one', 'two', 'three', 'four' }, folder .. '/a.txt')
  vim.fn.writefile({ 'mine' }, folder .. '/b.txt')
  local editor = child.start(folder .. '/a.txt')
  local init = vim.tbl_extend('keep', options or {}, { model = 'local/m' })
  editor:lua(
    [[
    local cwd, server, init = ...
    vim.cmd.cd(cwd)
    vim.g.xcsh_ls_cmd = server
    _G.events = {}
    vim.api.nvim_create_autocmd('User', { pattern = 'XcshEvent', callback = function(event)
      table.insert(_G.events, event.data.event.type)
    end })
    require('xcsh').setup({ init_options = init })
  ]],
    folder,
    vim.env.XCSH_TEST_SERVER,
    init
  )
  local ok, problem = xpcall(body, debug.traceback, editor, model)
  editor:stop()
  if not ok then
    error(problem, 0)
  end
end

---@param editor Child
---@param name string of an event
local function wait_for_event(editor, name)
  editor:wait('the event ' .. name, ('return vim.tbl_contains(_G.events, "%s")'):format(name))
end

---Waits for a pending approval. The request follows the event.
---@param editor Child
local function wait_for_question(editor)
  wait_for_event(editor, 'approvals_changed')
  editor:wait('the request', [[return require('xcsh.approvals').waiting()[1] ~= nil]])
end

---@param model Service
local function release(model)
  wait('the answer to be held', function()
    return model.holding
  end)
  model:release()
end

---@param old string
---@param new string
---@return Answer[]
local function editing(old, new)
  local args = { path = 'a.txt', edits = { { oldText = old, newText = new } } }
  return {
    { text = 'Changing it.', held = true, calls = { { id = 'c1', name = 'edit', args = args } } },
    { text = 'That is what was wanted.' },
  }
end

local keys = 'a yes<CR>y and<Esc>aa<CR>y<CR>d'

case('a change that arrives while the user is typing consumes no key', function()
  with_child(editing('two', 'zwei'), nil, function(editor, model)
    editor:type(':2XcshInline in German<CR>:split b.txt<CR>A: ')
    release(model)
    wait_for_question(editor)
    eq({ 'i', 'b.txt', '' }, editor:place())
    editor:type(keys)
    eq({ 'mine: a yes', 'y anda', 'y', 'd' }, editor:lines('b.txt'))
    eq({ 'i', 'b.txt', '' }, editor:place())
    eq({ 'one', 'two', 'three', 'four' }, editor:lines('a.txt'))
    -- The marks are at the change, and only the user's own command goes there.
    local marks = editor:lua([[
      return vim.api.nvim_buf_get_extmarks(vim.fn.bufnr('a.txt'), -1, 0, -1, { details = true })
    ]])
    like('gxk keep', vim.inspect(marks))
    editor:type('<Esc>:XcshReview<CR>')
    eq({ 'n', 'a.txt', '' }, editor:place())
    editor:type('gxk')
    editor:wait('the change', [[return vim.fn.getbufline('a.txt', 2)[1] == 'zwei' ]])
    eq({ 'n', 'a.txt', '' }, editor:place())
  end)
end)

case('a change made without asking consumes no key', function()
  with_child(editing('two', 'zwei'), { approval = 'auto-edit' }, function(editor, model)
    editor:type(':2XcshInline in German<CR>:split b.txt<CR>A: ')
    release(model)
    wait_for_event(editor, 'agent_end')
    editor:wait(
      'the change',
      [[return package.loaded['xcsh.waiting'] and require('xcsh.waiting').count() > 0
        or vim.api.nvim_win_get_config(0).relative ~= '']]
    )
    editor:type(keys)
    eq({ 'mine: a yes', 'y anda', 'y', 'd' }, editor:lines('b.txt'))
    eq({ 'i', 'b.txt', '' }, editor:place())
    eq({ 'one', 'zwei', 'three', 'four' }, editor:lines('a.txt'))
  end)
end)

case('an approval for :XcshPrompt consumes no key', function()
  for _, typed in ipairs({ '1<CR>', 'a1<CR>y', '<CR>' }) do
    with_child(editing('two', 'zwei'), nil, function(editor, model)
      editor:type(':XcshPrompt translate<CR>:split b.txt<CR>A')
      release(model)
      wait_for_question(editor)
      editor:type(typed)
      local expected = vim.split('mine' .. typed:gsub('<CR>', '\n'), '\n')
      eq(expected, editor:lines('b.txt'))
      eq({ 'i', 'b.txt', '' }, editor:place())
      eq({ 'one', 'two', 'three', 'four' }, editor:lines('a.txt'))
      eq(1, #editor:lua([[return require('xcsh.approvals').waiting()]]))
    end)
    harness.after()
    harness.before()
  end
end)

case('an answer that arrives while the user is typing consumes no key', function()
  with_child({ { text = 'one two', held = true } }, nil, function(editor, model)
    editor:type(':XcshPrompt hello<CR>:split b.txt<CR>A')
    release(model)
    wait_for_event(editor, 'agent_end')
    editor:type(' and more')
    editor:wait('the answer', [[return vim.fn.bufnr('xcsh://answer') ~= -1]])
    editor:type('!')
    eq({ 'mine and more!' }, editor:lines('b.txt'))
    eq({ 'i', 'b.txt', '' }, editor:place())
    editor:type('<Esc>:XcshReview<CR>')
    eq({ 'n', 'answer', '' }, editor:place())
  end)
end)

case('a long message does not wait for a key, and the message history has all of it', function()
  local long = ('x'):rep(500)
  local calls = { { id = 'c1', name = 'bash', args = { command = 'make ' .. long .. '\nls' } } }
  with_child({ { text = 'So.', held = true, calls = calls } }, nil, function(editor, model)
    editor:type(':XcshPrompt go<CR>:split b.txt<CR>A')
    release(model)
    wait_for_question(editor)
    editor:lua([[
      local view = require('xcsh.view')
      view.notify(('0123456789'):rep(30))
      view.error({ message = 'several\nlines\nof it' })
      view.notify('and another')
    ]])
    eq(false, vim.rpcrequest(editor.channel, 'nvim_get_mode').blocking)
    local history = editor:lua([[return vim.fn.execute('messages')]])
    like('\n' .. ('0123456789'):rep(30) .. '0123', (history:gsub('(%d)\n', '%1')))
    like('\nseveral\nlines\nof it\n', history)
    editor:type('1<Esc>:messages clear<CR>x')
    eq({ 'mine' }, editor:lines('b.txt'))
  end)
end)

case('a late result opens no window', function()
  harness.model({})
  vim.cmd('XcshModel')
  vim.api.nvim_feedkeys('l', 'xt', false)
  harness.message('Pending %(:XcshApprovals%): ')
  eq({}, harness.asked)
  harness.answer('offline/demo')
  vim.cmd('XcshApprovals')
  harness.message('^Model: offline/demo')
  vim.cmd('XcshApprovals')
  harness.message('^Nothing is pending%.$')
end)

---Sends a request like the server would.
---@param method string
---@param params table
---@return fun(): any answer once there is one
local function request(method, params)
  require('xcsh').execute('xcsh.state')
  local client = wait('the server', function()
    return require('xcsh.client').get()
  end)
  local answer
  coroutine.wrap(function()
    answer = client.handlers[method](nil, params, { client_id = client.id })
  end)()
  return function()
    return answer
  end
end

case('a question from the server stays pending until it is opened', function()
  local answer = request('window/showMessageRequest', {
    type = 3,
    message = 'Sure?\nReally?',
    actions = { { title = 'Yes' }, { title = 'No' } },
  })
  harness.message('Pending %(:XcshApprovals%): Sure%? Really%?')
  eq({}, harness.asked)
  harness.answer('No')
  vim.cmd('XcshApprovals')
  eq({ title = 'No' }, wait('the answer', answer))
end)

case('a document from the server stays pending until it is opened', function()
  local path = harness.folder('work') .. '/input.md'
  vim.fn.writefile({ 'write' }, path)
  local window = vim.api.nvim_get_current_win()
  local answer = request('window/showDocument', {
    uri = vim.uri_from_fname(path),
    takeFocus = true,
  })
  eq({ success = true }, answer())
  eq({ window, '' }, { vim.api.nvim_get_current_win(), vim.api.nvim_buf_get_name(0) })
  harness.message('Pending %(:XcshReview%): xcsh opened .*input%.md')
  vim.cmd('XcshReview')
  eq(path, vim.api.nvim_buf_get_name(0))
end)
