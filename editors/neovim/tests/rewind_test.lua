-- Undoes what a session did: the prompt, what goes back, the preview of the plan and its keys,
-- and the way forward again. The server is scripted.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local scripted = require('scripted')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local press = chats.press

local function path_of(name)
  return vim.fn.getcwd() .. '/' .. name
end

---A session of two turns. The second one changed five files.
local function start()
  local server = scripted.start()
  server.messages = {
    { entryId = 'p1', message = { role = 'user', content = 'Write a parser', timestamp = 0 } },
    { entryId = 'a1', message = { role = 'assistant', content = 'Done.' } },
    { entryId = 'p2', message = { role = 'user', content = 'Add\na login' } },
    { entryId = '', message = { role = 'user', content = 'not stored' } },
  }
  server.answers['xcsh.rewind'] = function(args)
    if args.planToken then
      return nil, { rewound = true, id = 'r1', files = 3, editorText = args.conversation and 'Add' }
    end
    local plan = {
      { path = path_of('src/a.go'), action = 'restore', added = 3, removed = 12 },
      {
        path = path_of('b.go'),
        action = 'merge',
        added = 1,
        removed = 2,
        buffer = true,
        yours = { { start = 40, ['end'] = 41 }, { start = 50, ['end'] = 50 } },
        patch = '--- a/b.go\n+++ b/b.go\n@@ -1,2 +1,2 @@\n same\n-new\n+old\27\n',
      },
      { path = '/elsewhere/c', action = 'none' },
    }
    local left = table.concat(args.except or {}, ' ')
    if not left:find('d%.go') then
      table.insert(plan, {
        path = path_of('d.go'),
        action = 'conflict',
        reason = 'overlaps',
        text = 'You changed lines 10-12, which the call changed, too.',
      })
    end
    if not left:find('e%.go') and not args.acrossHead then
      local conflict = { path = path_of('e.go'), action = 'conflict', reason = 'headMoved' }
      table.insert(plan, conflict)
    end
    local conflicts = #plan - 3
    return nil,
      {
        plan = plan,
        prompts = 1,
        conversation = args.conversation or false,
        conflicts = conflicts,
        head = { moved = not args.acrossHead },
        limits = { { kind = 'outside', text = 'A command ran.' } },
        planToken = conflicts == 0 and 'token' or '',
      }
  end
  harness.execute('xcsh.state')
  -- A key counts once the plan was visible for a moment.
  require('xcsh.rewind.tab').quiet = 0
  return server
end

local function text_of(bufnr)
  return table.concat(vim.api.nvim_buf_get_lines(bufnr or 0, 0, -1, false), '\n')
end

local function plan_shown()
  wait('the plan', function()
    return vim.bo.filetype == 'xcsh-rewind'
  end)
  return text_of()
end

---@param way string
local function open(way)
  harness.answer('Add a login')
  harness.answer(way)
  vim.cmd('XcshRewind')
  return plan_shown()
end

---Moves the cursor to a line of the plan.
local function at(said)
  eq(true, vim.fn.search(said, 'cw') > 0)
end

---Waits for another plan.
---@param change fun()
local function planned(server, change)
  local asked, tick = #server:args('xcsh.rewind'), vim.b.changedtick
  change()
  local args = server:wait_for('xcsh.rewind', asked + 1)
  wait('the new plan', function()
    return vim.b.changedtick ~= tick
  end)
  return args[#args]
end

case('a prompt and a way are chosen, and the plan says what happens to each file', function()
  local server = start()
  local shown = open('Files and conversation')
  eq({ 'Add a login', 'Write a parser' }, harness.asked[1].lines)
  eq({ 'Files and conversation', 'Files only', 'Conversation only' }, harness.asked[2].lines)
  eq({ { before = 'p2', conversation = true, dryRun = true } }, server:args('xcsh.rewind'))
  local keys = 'H undo across commits · X leave out the conflicts · x leave out this file · '
    .. '<CR> open it · R plan again · q close'
  local want = [[
Rewind to before "Add a login" · files and conversation
2 files change, the conversation goes back 1 prompt, 2 files cannot be undone.
%s

  restore   src/a.go      +3 −12
  merge     b.go          +1 −2 · in its buffer · your lines 40-41, 50 stay
  none      /elsewhere/c
  conflict  d.go          You changed lines 10-12, which the call changed, too.
  conflict  e.go          A commit was made since.

HEAD has moved since. Commits stay; files change as if against them.

Not known: A command ran.

b.go
@@ -1,2 +1,2 @@
 same
-new
+old␛]]
  eq(want:format(keys), shown)
  eq({ 5, true }, { vim.api.nvim_win_get_cursor(0)[1], not vim.bo.modifiable })
end)

case('y carries out nothing while there are conflicts; files can be left out', function()
  local server = start()
  open('Files only')
  press('y')
  harness.message('^Some files cannot be undone%. Press X to leave them out%.$')
  at('src/a')
  eq(
    { path_of('src/a.go') },
    planned(server, function()
      press('x')
    end).except
  )
  wait('the plan without it', function()
    return text_of():find('left out  src/a%.go')
  end)
  at('left out  src/a')
  eq(
    nil,
    planned(server, function()
      press('x')
    end).except
  )
  eq(
    { path_of('d.go'), path_of('e.go') },
    planned(server, function()
      press('X')
    end).except
  )
  wait('the plan without conflicts', function()
    return text_of():find('y carry out')
  end)
  like('left out  d%.go\n  left out  e%.go', text_of())
  press('y')
  harness.message('^Undid the changes of 3 files%. :XcshRedo restores them%.$')
  eq(1, #vim.api.nvim_list_tabpages())
  eq({
    before = 'p2',
    except = { path_of('d.go'), path_of('e.go') },
    planToken = 'token',
  }, server:args('xcsh.rewind')[5])
end)

case('a change across a commit is undone on request', function()
  local server = start()
  open('Files only')
  at('d.go')
  planned(server, function()
    press('x')
  end)
  eq(
    true,
    planned(server, function()
      press('H')
    end).acrossHead
  )
  wait('the plan without conflicts', function()
    return text_of():find('y carry out')
  end)
  eq(nil, text_of():find('HEAD has moved'))
  press('y')
  harness.message('^Undid')
  eq(true, server:args('xcsh.rewind')[4].acrossHead)
end)

case('y counts only for a plan that was visible for a moment, and once', function()
  local server = start()
  open('Files only')
  press('X')
  wait('the plan without conflicts', function()
    return text_of():find('y carry out')
  end)
  require('xcsh.rewind.tab').quiet = 1e6
  press('y')
  harness.message('^This plan has just appeared%. Read it, then press y again%.$')
  eq(2, #server:args('xcsh.rewind'))
  require('xcsh.rewind.tab').quiet = 0
  server.holds['xcsh.rewind'] = true
  press('y')
  press('yyxXR')
  server:wait_for('xcsh.rewind', 3)
  server:release()
  harness.message('^Undid')
  eq(3, #server:args('xcsh.rewind'))
end)

case('if something has changed since, nothing is done and a new plan is shown', function()
  local server = start()
  local answer = server.answers['xcsh.rewind']
  open('Files only')
  press('X')
  wait('the plan without conflicts', function()
    return text_of():find('y carry out')
  end)
  server.answers['xcsh.rewind'] = function(args)
    if args.planToken then
      local data = { kind = 'stale', path = path_of('src/a.go') }
      return { message = 'stale', data = data }
    end
    return answer(args)
  end
  press('y')
  wait('the new plan', function()
    return text_of():find('a%.go has changed since%. Nothing was changed%. This is a new plan%.')
  end)
  server.answers['xcsh.rewind'] = function()
    return { message = 'A turn is running.', data = { kind = 'busy' } }
  end
  press('y')
  harness.message('^A turn is running%.$')
  eq('xcsh-rewind', vim.bo.filetype)
  server.answers['xcsh.rewind'] = { rewound = false, cancelledBy = 'hook ~/h' }
  press('y')
  harness.message('^Nothing was changed: canceled by hook ~/h%.$')
  eq(1, #vim.api.nvim_list_tabpages())
end)

case('the prompt returns to the prompt window, and unsaved files are named', function()
  local server = start()
  local chat = chats.open()
  local answer = server.answers['xcsh.rewind']
  server.answers['xcsh.rewind'] = function(args)
    if args.planToken then
      return nil,
        {
          rewound = true,
          files = 1,
          editorText = 'Add\na login',
          unsaved = { path_of('b.go') },
          commits = { '3f' },
        }
    end
    return answer(args)
  end
  chats.at(chat, 'Add')
  harness.answer('Files and conversation')
  press('r')
  plan_shown()
  press('X')
  wait('the plan without conflicts', function()
    return text_of():find('y carry out')
  end)
  press('y')
  harness.message('^Undid the changes of 1 file%. :XcshRedo .* Not saved: b%.go%. 1 commit of the')
  wait('the prompt', function()
    return chats.prompt_text(chat) == 'Add\na login'
  end)
end)

case('the conversation alone goes back without a plan', function()
  local server = start()
  server.answers['xcsh.branch'] = { editorText = 'Add', changesLeft = 2 }
  harness.answer('Conversation only')
  vim.cmd('XcshRewind p2')
  harness.message('^The conversation goes on .* The changes of 2 files stay%.$')
  eq({ { entryId = 'p2' } }, server:args('xcsh.branch'))
  eq({}, server:args('xcsh.rewind'))
  eq('Add', text_of(vim.fn.bufnr('xcsh://prompt')))
end)

case('nothing happens if a question is closed, or there is nothing to undo', function()
  local server = start()
  harness.close_question()
  vim.cmd('XcshRewind')
  wait('the question', function()
    return #harness.asked == 1
  end)
  harness.answer('Write')
  harness.close_question()
  vim.cmd('XcshRewind')
  wait('both questions', function()
    return #harness.asked == 3
  end)
  eq({}, server:args('xcsh.rewind'))
  server.answers['xcsh.rewind'] = { plan = { { path = '/a', action = 'none' } }, conflicts = 0 }
  harness.answer('Write')
  harness.answer('Files only')
  vim.cmd('XcshRewind')
  harness.message('^There is nothing to undo')
  server.messages = {}
  vim.cmd('XcshRewind')
  harness.message('^The session has no prompts%.$')
  eq(1, #vim.api.nvim_list_tabpages())
end)

case(':XcshRedo restores at once, or shows what is in the way', function()
  local server = start()
  server.answers['xcsh.rewind'] = function(args)
    eq('', args.redo)
    if args.planToken then
      return nil, { rewound = true, files = 2 }
    end
    return nil, { plan = { { path = '/a', action = 'restore' } }, conflicts = 0, planToken = 't' }
  end
  vim.cmd('XcshRedo')
  harness.message('^Restored 2 files%.$')
  eq({ { redo = '', dryRun = true }, { redo = '', planToken = 't' } }, server:args('xcsh.rewind'))
  server.answers['xcsh.rewind'] = {
    plan = { { path = '/a', action = 'conflict', reason = 'binary', hint = '/b' } },
    conflicts = 1,
    planToken = '',
  }
  vim.cmd('XcshRedo')
  local renamed = 'and it has changed since%. It may have been renamed to /b%.'
  like('^Restore what the last rewind undid\n.*' .. renamed, plan_shown())
  server.answers['xcsh.rewind'] = function()
    return { message = 'There is no rewind to undo.', data = { kind = 'notFound' } }
  end
  press('q')
  vim.cmd('XcshRedo')
  harness.message('^There is no rewind to undo%.$')
end)

case('a plan of hostile texts stays a plan', function()
  local server = start()
  server.answers['xcsh.rewind'] = {
    plan = {
      { path = '/x\n  restore  y\27[2J', action = 'con\nflict', text = 'a\nb', added = 'many' },
      { path = 7, action = 'restore' },
      'nothing',
      { path = path_of('z'), action = 'merge', yours = { 'x', {} }, patch = '@@\27\n+\u{202e}\n' },
    },
    conflicts = 'none',
    limits = { { text = '\27]0;x\7' } },
    head = 'moved',
  }
  harness.answer('Write')
  harness.answer('Files only')
  vim.cmd('XcshRewind')
  local shown = plan_shown()
  eq(nil, shown:find('[%z\1-\9\11-\31\127]'))
  eq(nil, shown:find('\u{202e}', 1, true))
  like('\n  con flict /x restore y␛%[2J', shown)
  eq(
    { 'xcsh.rewind' },
    vim.tbl_map(
      function(call)
        return call.name
      end,
      vim.tbl_filter(function(call)
        return call.name == 'xcsh.rewind'
      end, server.calls)
    )
  )
end)
