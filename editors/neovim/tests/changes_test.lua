-- What a session did to files: the list, the marks in the files, keeping and taking back, and the
-- comparison of files. The server is scripted.

local chats = require('chats')
local harness = require('harness')
local runner = require('runner')
local scripted = require('scripted')
local case, eq, like, wait = runner.case, runner.eq, runner.like, runner.wait
local press = chats.press

---@param id string
---@param old string[]
---@param new string[]
---@param at integer the first line in the new text
---@param more? table
local function hunk(id, at, old, new, more)
  local lines = { ('@@ -%d,%d +%d,%d @@'):format(at, #old, #new > 0 and at or at - 1, #new) }
  for _, line in ipairs(old) do
    lines[#lines + 1] = '-' .. line
  end
  for _, line in ipairs(new) do
    lines[#lines + 1] = '+' .. line
  end
  return vim.tbl_extend('force', {
    hunk = id,
    newStart = at,
    newLines = #new,
    oldStart = at,
    oldLines = #old,
    text = table.concat(lines, '\n') .. '\n',
    mixed = false,
    state = 'pending',
  }, more or {})
end

---@param files table[]
---@param more? table
local function changes(files, more)
  local totals = { files = #files, added = 0, removed = 0, pending = 0 }
  for _, file in ipairs(files) do
    totals.added = totals.added + (file.added or 0)
    totals.removed = totals.removed + (file.removed or 0)
    totals.pending = totals.pending + (file.pending or 0)
  end
  return vim.tbl_extend('force', {
    sessionId = 's',
    since = 'session',
    complete = true,
    limits = {},
    totals = totals,
    files = files,
    rewinds = {},
    interrupted = false,
    seq = 1,
  }, more or {})
end

local numbers = { 'ONE', 'two', 'three', 'five', 'six', 'seven' }

---The session replaced "one", removed "four" behind "three", and added "six".
local function hunks()
  return {
    hunk('h1', 1, { 'one' }, { 'ONE' }),
    hunk('h2', 4, { 'four' }, {}),
    hunk('h3', 5, {}, { 'six' }),
  }
end

---A server whose session changed a.txt, which is open.
---@param list? table[]
local function start(list)
  local server = scripted.start()
  local path = chats.file('a.txt', numbers)
  server.files = {
    {
      path = path,
      status = 'modified',
      added = 2,
      removed = 2,
      pending = #(list or hunks()),
      base = 'xcsh-change:a?base=1',
      hunks = list or hunks(),
    },
  }
  server.answers['xcsh.changes'] = function(args)
    return nil,
      changes(vim.tbl_filter(function(file)
        return not args.path or file.path == args.path
      end, vim.deepcopy(server.files)))
  end
  server.answers['xcsh.change'] = function(args)
    eq('base', args.side)
    local text = 'one\ntwo\nthree\nfour\nfive\nseven\n'
    return nil, { text = text, size = #text, binary = false, mode = 420 }
  end
  vim.cmd.edit(path)
  harness.execute('xcsh.state')
  return server, path, vim.api.nvim_get_current_buf()
end

---Returns what is shown in a buffer: signs, and removed lines above them.
---@param bufnr integer
local function shown(bufnr)
  local namespace = vim.api.nvim_get_namespaces().xcsh_changes
  local lines = {}
  for row, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
    local position, sign = { row - 1, 0 }, ' '
    local options = { details = true }
    for _, mark in
      ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, position, position, options))
    do
      sign = mark[4].sign_text and vim.trim(mark[4].sign_text) or sign
      for _, virtual in ipairs(mark[4].virt_lines or {}) do
        lines[#lines + 1] = '-' .. virtual[1][1]
      end
    end
    lines[#lines + 1] = sign .. line
  end
  return table.concat(lines, '\n')
end

local marked = '-one\n┃ONE\n two\n▁three\n-four\n five\n┃six\n seven'

---Lets the server report the change, and waits for the marks.
local function report(server, path, bufnr)
  server:event({
    type = 'changes_changed',
    totals = changes(server.files).totals,
    paths = { path },
  })
  wait('the marks', function()
    return require('xcsh.changes.marks').of(bufnr)
  end)
end

case('pending changes are marked in their file, and the keys go through them', function()
  local server, path, bufnr = start()
  report(server, path, bufnr)
  eq(marked, shown(bufnr))
  eq(numbers, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  eq(false, vim.bo[bufnr].modified)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  local rows = {}
  for _, key in ipairs({ ']x', ']x', ']x', '[x', '[x', '[x' }) do
    press(key)
    table.insert(rows, vim.api.nvim_win_get_cursor(0)[1])
  end
  eq({ 3, 5, 1, 5, 3, 1 }, rows)
  eq('3 to review', require('xcsh').changes())
  like('3 to review$', require('xcsh').statusline())
end)

case('gxk keeps the change at the cursor, and the marks follow the server', function()
  local server, path, bufnr = start()
  report(server, path, bufnr)
  server.answers['xcsh.keep'] = function(args)
    eq({ { path = path, hunk = 'h1' } }, args.hunks)
    table.remove(server.files[1].hunks, 1)
    return nil, { kept = 1, pending = 2 }
  end
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  press('gxk')
  harness.message('^Kept 1 change%. 2 left to review%.$')
  wait('the change to go', function()
    return shown(bufnr) == (marked:gsub('^%-one\n┃', ' '))
  end)
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  press('gxk')
  harness.message('^No change to review here%. %]x goes to the next one%.$')
  eq(1, #server:args('xcsh.keep'))
end)

case('a key that is pressed twice decides about one change', function()
  local server, path, bufnr = start()
  report(server, path, bufnr)
  server.answers['xcsh.rewind'] = { rewound = true, id = 'r', files = 1 }
  server.holds['xcsh.rewind'] = true
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  press('gxu')
  press('gxu')
  vim.api.nvim_win_set_cursor(0, { 5, 0 })
  press('gxu')
  server:wait_for('xcsh.rewind')
  server:release()
  harness.message('^Undid 1 change%. To restore: u, or :XcshRedo%.$')
  eq({ { hunks = { { path = path, hunk = 'h1' } }, dryRun = false } }, server:args('xcsh.rewind'))
end)

case('a selection has all its changes, and gxU has those of the file', function()
  local server, path, bufnr = start()
  report(server, path, bufnr)
  server.answers['xcsh.keep'] = { kept = 2, pending = 1 }
  server.answers['xcsh.rewind'] = { rewound = true, id = 'r', files = 1 }
  press('3GVjjgxk')
  eq('n', vim.api.nvim_get_mode().mode)
  harness.message('^Kept 2 changes')
  local function of(...)
    return vim.tbl_map(function(id)
      return { path = path, hunk = id }
    end, { ... })
  end
  eq(of('h2', 'h3'), server:args('xcsh.keep')[1].hunks)
  press('gxU')
  harness.message('^Undid 3 changes')
  eq(of('h1', 'h2', 'h3'), server:args('xcsh.rewind')[1].hunks)
end)

case('the last pending change takes the marks and keys with it', function()
  local server, path, bufnr = start()
  report(server, path, bufnr)
  server.answers['xcsh.keep'] = function()
    server.files = {}
    return nil, { kept = 3, pending = 0 }
  end
  press('gxK')
  harness.message('^Kept 3 changes%. Nothing left to review%.$')
  wait('the marks to go', function()
    return not require('xcsh.changes.marks').of(bufnr)
  end)
  eq({}, vim.api.nvim_buf_get_keymap(bufnr, 'n'))
  eq(
    {},
    vim.api.nvim_buf_get_extmarks(bufnr, vim.api.nvim_get_namespaces().xcsh_changes, 0, -1, {})
  )
end)

case('a change that is another one meanwhile is not undone', function()
  local server, path, bufnr = start()
  report(server, path, bufnr)
  server.answers['xcsh.rewind'] = function()
    server.files[1].hunks[1] = hunk('h9', 1, { 'one' }, { 'ONE' })
    return { message = 'This change is another one now.', data = { kind = 'stale' } }
  end
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  press('gxu')
  harness.message('^This change is another one now%.$')
  wait('the new name', function()
    return require('xcsh.changes.marks').of(bufnr).marks[1].hunk == 'h9'
  end)
end)

case('lines that the user changed, too, are undone after a look', function()
  local server, path, bufnr = start({ hunk('h1', 1, { 'one' }, { 'ONE' }, { mixed = true }) })
  report(server, path, bufnr)
  server.answers['xcsh.rewind'] = {
    plan = { { path = path, action = 'restore', added = 1, removed = 1 } },
    conflicts = 0,
    planToken = 't',
  }
  press('gggxu')
  wait('the plan', function()
    return vim.bo.filetype == 'xcsh-rewind'
  end)
  like(
    '^Undo changes\n1 file changes%.\n',
    table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  )
  eq({ { hunks = { { path = path, hunk = 'h1' } }, dryRun = true } }, server:args('xcsh.rewind'))
end)

case('marks move with typed text, and are asked for again for the new text', function()
  local server, path, bufnr = start()
  report(server, path, bufnr)
  press('ggOabove<Esc>')
  like('^ above\n%-one\n┃ONE', shown(bufnr))
  -- An answer for a text that is gone is not used.
  server.holds['xcsh.changes'] = true
  local asked = #server:args('xcsh.changes')
  server:event({ type = 'changes_changed', totals = {}, paths = { path } })
  server:wait_for('xcsh.changes', asked + 1)
  press('ggOmore<Esc>')
  for i, h in ipairs(server.files[1].hunks) do
    server.files[1].hunks[i] = hunk(
      h.hunk,
      h.newStart + 2,
      ({ { 'one' }, { 'four' }, {} })[i],
      ({
        { 'ONE' },
        {},
        { 'six' },
      })[i]
    )
  end
  server:release()
  server:wait_for('xcsh.changes', asked + 2)
  wait('the marks', function()
    return shown(bufnr) == ' more\n above\n' .. marked
  end)
end)

case('a change that is not where the server says is not marked', function()
  local list = hunks()
  list[1] = hunk('h1', 1, { 'one' }, { 'UNO' })
  list[4] = hunk('h4', 90, {}, { 'x' })
  list[5] = { hunk = 'h5', text = 'no diff', newStart = 2, state = 'pending' }
  list[6] = hunk('h6', 2, { 'zwei' }, { 'two' }, { state = 'kept' })
  local server, path, bufnr = start(list)
  report(server, path, bufnr)
  eq((marked:gsub('^%-one\n┃', ' ')), shown(bufnr))
end)

case('changes at both ends of a file are shown', function()
  local server, path, bufnr = start({
    hunk('h1', 1, { 'zero' }, {}),
    hunk('h2', 7, { 'eight', 'nine' }, {}),
  })
  report(server, path, bufnr)
  local namespace = vim.api.nvim_get_namespaces().xcsh_changes
  local found = {}
  local details = { details = true }
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, details)) do
    for _, virtual in ipairs(mark[4].virt_lines or {}) do
      table.insert(found, { mark[2], virtual[1][1], mark[4].virt_lines_above == true })
    end
  end
  eq({ { 0, 'zero', true }, { 5, 'eight', false }, { 5, 'nine', false } }, found)
  eq(1, vim.fn.winsaveview().topfill)
  server.answers['xcsh.keep'] = { kept = 1, pending = 1 }
  press('Ggxk')
  eq('h2', server:wait_for('xcsh.keep')[1].hunks[1].hunk)
end)

case('the keys and the look of marks are settings, and keys of the user stay', function()
  local server, path, bufnr = start()
  require('xcsh').setup({
    changes = { show = 'signs', keys = { keep = '<Space>k', undo = false } },
  })
  vim.keymap.set('n', ']x', 'G', { buffer = bufnr })
  report(server, path, bufnr)
  eq('┃ONE\n two\n▁three\n five\n┃six\n seven', shown(bufnr))
  local keys = vim.tbl_map(function(map)
    return map.lhs
  end, vim.api.nvim_buf_get_keymap(bufnr, 'n'))
  table.sort(keys)
  eq(
    { '<Space>k', '[f', '[x', ']f', ']x', 'gxK', 'gxU' },
    vim.tbl_map(function(lhs)
      return lhs == ' k' and '<Space>k' or lhs
    end, keys)
  )
  require('xcsh.changes.marks').clear(bufnr)
  eq(
    { ']x' },
    vim.tbl_map(function(map)
      return map.lhs
    end, vim.api.nvim_buf_get_keymap(bufnr, 'n'))
  )
  require('xcsh').setup({ changes = { show = 'none', keys = false } })
  report(server, path, bufnr)
  eq(table.concat(numbers, '\n '), (shown(bufnr):gsub('^ ', '')))
  eq(1, #vim.api.nvim_buf_get_keymap(bufnr, 'n'))
  eq(false, pcall(require('xcsh').setup, { changes = { show = 'all' } }))
end)

case(
  'a file that is opened later, or by another session, is marked as that session says',
  function()
    local server, path = start()
    vim.cmd.enew()
    server:event({ type = 'changes_changed', totals = { pending = 3 }, paths = { path } })
    wait('the totals', function()
      return require('xcsh').changes() == '3 to review'
    end)
    vim.cmd.edit(path)
    wait('the marks', function()
      return shown(0) == marked
    end)
    local asked = #server:args('xcsh.changes')
    server.files = {}
    server.dispatchers.notification('xcsh/sessionChanged', {
      cwd = server.state.cwd,
      sessionId = 'other',
      seq = 1,
      reason = 'new',
    })
    wait('the marks to go', function()
      return not require('xcsh.changes.marks').of(vim.api.nvim_get_current_buf())
    end)
    server:wait_for('xcsh.changes', asked + 1)
    eq('', require('xcsh').changes())
  end
)

case('a proposed change has the keys while it is pending', function()
  local server, path, bufnr = start()
  report(server, path, bufnr)
  coroutine.wrap(function()
    server.dispatchers.server_request('xcsh/approve', {
      cwd = server.state.cwd,
      id = 'c1',
      tool = 'edit',
      paths = { path },
      diff = '--- a\n+++ b\n@@ -2 +2 @@\n-two\n+2\n',
      base = vim.fn.sha256(table.concat(numbers, '\n') .. '\n'),
    })
  end)()
  wait('the proposal', function()
    return harness.shown_change(bufnr) ~= ''
  end)
  local function does()
    return vim.fn.maparg('gxu', 'n', false, true).desc
  end
  eq('xcsh: leave out this hunk', does())
  -- New marks do not take the keys.
  local asked = #server:args('xcsh.changes')
  server:event({ type = 'changes_changed', totals = {}, paths = { path } })
  server:wait_for('xcsh.changes', asked + 1)
  eq('xcsh: leave out this hunk', does())
  press('gxU')
  wait('the end of the proposal', function()
    return harness.shown_change(bufnr) == ''
  end)
  eq('xcsh: undo this change', does())
  eq(marked, shown(bufnr))
end)

case(']f and [f go through the files beside their texts without the changes', function()
  local server, path, bufnr = start()
  local other = chats.file('b.txt', { 'x' })
  table.insert(server.files, { path = other, status = 'added', pending = 1, hunks = {} })
  table.insert(server.files, {
    path = vim.fs.dirname(path) .. '/gone.txt',
    status = 'deleted',
    pending = 1,
  })
  report(server, path, bufnr)
  press(']f')
  wait('the comparison', function()
    return #vim.api.nvim_list_tabpages() == 2 and vim.wo.diff
  end)
  eq(bufnr, vim.api.nvim_get_current_buf())
  local left = vim.fn.win_getid(1)
  eq(
    'one two three four five seven',
    table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(left), 0, -1, false), ' ')
  )
  eq({ false, true }, {
    vim.bo[vim.api.nvim_win_get_buf(left)].modifiable,
    vim.wo[left].diff,
  })
  like('a%.txt · 1 of 3 · %]f next file · gxk keep · gxu undo', vim.wo.winbar)
  -- do has its usual meaning: the user takes the line back.
  press('ggdo')
  eq('one', vim.api.nvim_buf_get_lines(bufnr, 0, 1, false)[1])
  press('u')
  server.answers['xcsh.change'] = { size = 0, binary = false }
  press(']f')
  wait('the next file', function()
    return vim.api.nvim_buf_get_name(0) == other
  end)
  press(']f')
  wait('the file that is gone', function()
    return vim.wo.winbar:find('gone%.txt · 3 of 3')
  end)
  eq('', vim.fn.getline(1))
  eq(nil, (vim.uv.fs_stat(vim.fs.dirname(path) .. '/gone.txt')))
  press('[f')
  wait('the file before', function()
    return vim.api.nvim_buf_get_name(0) == other
  end)
  -- A file that cannot be compared is passed over.
  server.answers['xcsh.change'] = function(args)
    return nil, { size = 1, binary = args.path ~= path, text = args.path == path and 'x' or nil }
  end
  press(']f')
  wait('the first file', function()
    return vim.api.nvim_get_current_buf() == bufnr
  end)
  vim.api.nvim_set_current_win(vim.fn.win_getid(1))
  press('q')
  eq(1, #vim.api.nvim_list_tabpages())
end)

case('what is kept moves to the other side of an open comparison', function()
  local server, path, bufnr = start()
  report(server, path, bufnr)
  vim.cmd('XcshChanges diff')
  wait('the comparison', function()
    return vim.wo.diff
  end)
  server.answers['xcsh.change'] = { text = 'ONE\ntwo\n', size = 8, binary = false }
  server.files[1].base = 'xcsh-change:a?base=2'
  server.answers['xcsh.keep'] = { kept = 1, pending = 2 }
  press('gggxk')
  wait('the new text', function()
    local left = vim.api.nvim_win_get_buf(vim.fn.win_getid(1))
    return vim.api.nvim_buf_get_lines(left, 0, 1, false)[1] == 'ONE'
  end)
end)

case(':XcshChanges lists the hunks, other changes, and what is not known', function()
  local server, path = start()
  local root = vim.fs.dirname(path)
  server.answers['xcsh.changes'] = function(args)
    eq(args.pending ~= true, args.hunks == true)
    local list = hunks()
    list[2].state, list[3].mixed = 'kept', true
    return nil,
      changes({
        { path = path, status = 'modified', added = 2, removed = 2, pending = 2, hunks = list },
        { path = root .. '/gone', status = 'deleted', added = 0, removed = 7 },
        {
          path = root .. '/p.png',
          status = 'added',
          binary = true,
          text = 'It is too\nlarge to be taken back.\27',
        },
        { path = root .. '/new', from = root .. '/old', status = 'renamed', pending = 1 },
      }, {
        complete = false,
        since = args.since,
        limits = { { kind = 'outside', text = 'A command ran.', records = {} } },
      })
  end
  vim.cmd('XcshChanges')
  wait('the list', function()
    return vim.bo.filetype == 'qf'
  end)
  local found = vim.tbl_map(function(item)
    local name = item.bufnr > 0 and vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)) or ''
    return ('%s %d %d %s'):format(name, item.lnum, item.valid, item.text)
  end, vim.fn.getqflist())
  eq({
    'a.txt 1 1 +1 −1  + ONE',
    'a.txt 4 1 [kept] +0 −1  - four',
    'a.txt 5 1 +1 −0  + six (with your changes)',
    (' 0 0 %s/gone: deleted · +0 −7'):format(root),
    'p.png 1 1 added · not a text · It is too large to be taken back.␛',
    ('new 1 1 renamed from %s/old'):format(root),
    ' 0 0 Not known: A command ran.',
  }, found)
  local title = 'xcsh: changes of the last turn · 4 files +2 −9 · 3 to review · not complete'
  eq(title, vim.fn.getqflist({ title = 1 }).title)
  vim.cmd('cclose')
  vim.cmd('XcshChanges session')
  wait('the list', function()
    return vim.fn.getqflist({ title = 1 }).title:find('^xcsh: changes of the session · ')
  end)
  vim.cmd('XcshChanges all')
  harness.message('^Use :XcshChanges, :XcshChanges session or :XcshChanges diff%.$')
  server.answers['xcsh.changes'] = changes({})
  vim.cmd('XcshChanges')
  harness.message('^The last turn changed no files%.$')
  vim.cmd('XcshChanges diff')
  harness.message('^No changes to review%.$')
end)

case(':XcshKeep keeps the changes of a file, or all', function()
  local server, path = start()
  server.answers['xcsh.keep'] = { kept = 3, pending = 0 }
  harness.answer('a.txt · 3 changes')
  vim.cmd('XcshKeep')
  harness.message('^Kept 3 changes%. Nothing left to review%.$')
  eq({ 'All files', 'a.txt · 3 changes' }, harness.asked[1].lines)
  harness.answer('All files')
  vim.cmd('Xcsh keep')
  eq({ { paths = { path } }, { all = true } }, server:wait_for('xcsh.keep', 2))
  server.files = {}
  vim.cmd('XcshKeep')
  harness.message('^No changes to review%.$')
end)

case('a rewind that was interrupted is told once', function()
  local server, path, bufnr = start()
  server.answers['xcsh.changes'] = changes(server.files, { interrupted = true })
  vim.cmd('XcshChanges')
  harness.message('^A rewind was interrupted%.')
  local told = #harness.notified
  vim.cmd('cclose')
  vim.api.nvim_set_current_win(vim.fn.bufwinid(bufnr))
  vim.cmd('XcshChanges diff')
  wait('the comparison', function()
    return vim.wo.diff
  end)
  eq(told, #harness.notified)
  eq(path, vim.api.nvim_buf_get_name(0))
end)

case('the end of a turn shows what it did to files, with keys', function()
  local server, path = start()
  server.messages = { { entryId = 'p1', message = { role = 'user', content = 'do it' } } }
  local chat = chats.open()
  server:event({ type = 'agent_start' })
  server:event({
    type = 'agent_end',
    stopReason = 'stop',
    changes = { files = 5, added = 120, removed = 31, limits = {} },
  })
  chats.wait_for(chat, '± 5 files %+120 −31 · c review · u undo')
  chats.at(chat, '± 5 files')
  press('c')
  wait('the list', function()
    return vim.bo.filetype == 'qf'
  end)
  eq(
    true,
    vim.iter(server:args('xcsh.changes')):any(function(args)
      return args.since == 'turn' and args.hunks
    end)
  )
  server.answers['xcsh.rewind'] = {
    plan = { { path = path, action = 'restore' } },
    conflicts = 0,
    planToken = 't',
  }
  chats.at(chat, '± 5 files')
  press('u')
  wait('the plan', function()
    return vim.bo.filetype == 'xcsh-rewind'
  end)
  eq({ { before = 'p1', dryRun = true } }, server:args('xcsh.rewind'))
  press('q')
  server.files[1].added = 1
  server:event({ type = 'rewound', id = 'r', files = 4 })
  chats.wait_for(chat, '± 1 file %+1 −2 · c review')
  server.files = {}
  server:event({ type = 'rewound', id = 'r', files = 1 })
  wait('the line to go', function()
    return not chats.text_of(chat):find('c review')
  end)
end)
