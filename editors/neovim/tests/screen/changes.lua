-- The Neovim of the screens of changes: the plugin, and a scripted server whose session has changed
-- a.txt and b.txt. play(NAME) lets it do something.

local screen = vim.fs.dirname(vim.fn.resolve(debug.getinfo(1, 'S').source:sub(2)))
dofile(vim.fs.dirname(screen) .. '/init.lua')

local scripted = require('scripted')
local server = scripted.start(scripted.pi({ state = 'known' }))
local root = vim.fn.getcwd()

server.messages = {
  { entryId = 'p1', message = { role = 'user', content = 'Write a list of numbers' } },
  {
    entryId = 'a1',
    message = { role = 'assistant', model = 'claude-opus', content = 'Here they are.' },
  },
  { entryId = 'p2', message = { role = 'user', content = 'Now in German, please' } },
}

---@param id string
---@param text string
---@param more? table
local function hunk(id, text, more)
  local first = tonumber(text:match('%+(%d+)'))
  local value = { hunk = id, newStart = first, text = text, mixed = false, state = 'pending' }
  return vim.tbl_extend('force', value, more or {})
end

local files = {
  {
    path = root .. '/a.txt',
    status = 'modified',
    added = 3,
    removed = 3,
    pending = 3,
    base = '1',
    hunks = {
      hunk('h1', '@@ -1,2 +1 @@\n-one\n-and a half\n+eins\n'),
      hunk('h2', '@@ -4 +2,0 @@\n-three\n'),
      hunk('h3', '@@ -5,0 +4,2 @@\n+fünf\n+sechs\n', { mixed = true }),
    },
  },
  {
    path = root .. '/b.txt',
    status = 'added',
    added = 1,
    removed = 0,
    pending = 1,
    base = '2',
    hunks = { hunk('h4', '@@ -0,0 +1 @@\n+new\n') },
  },
}
local bases = { ['a.txt'] = 'one\nand a half\nzwei\nthree\nvier\n', ['b.txt'] = '' }
local totals = { files = 2, added = 4, removed = 3, pending = 4 }

server.answers['xcsh.changes'] = function(args)
  return nil,
    {
      totals = totals,
      complete = false,
      interrupted = false,
      limits = {
        {
          kind = 'outside',
          text = 'A command ran. Its changes outside of the folder are not recorded.',
        },
      },
      files = vim.tbl_filter(function(file)
        return not args.path or file.path == args.path
      end, vim.deepcopy(files)),
    }
end
server.answers['xcsh.change'] = function(args)
  return nil, { text = bases[vim.fs.basename(args.path)], size = 1, binary = false }
end
server.answers['xcsh.keep'] = function(args)
  files[1].hunks = vim.tbl_filter(function(known)
    return known.hunk ~= args.hunks[1].hunk
  end, files[1].hunks)
  files[1].pending, totals.pending = 2, 3
  return nil, { kept = 1, pending = 3 }
end
server.answers['xcsh.rewind'] = function(args)
  if args.planToken then
    local ended = { rewound = true, id = 'r', files = 2 }
    return nil, vim.tbl_extend('error', ended, { editorText = 'Now in German, please' })
  end
  local plan = {
    {
      path = root .. '/a.txt',
      action = 'merge',
      added = 3,
      removed = 2,
      buffer = true,
      yours = { { start = 5, ['end'] = 6 } },
      patch = '@@ -1,3 +1,5 @@\n-eins\n+one\n+and a half\n zwei\n+three\n vier\n',
    },
    { path = root .. '/b.txt', action = 'remove', removed = 1 },
  }
  if not args.except then
    table.insert(plan, {
      path = root .. '/lib/parser.go',
      action = 'conflict',
      reason = 'overlaps',
      text = 'You changed lines 10-12, which the call changed, too.',
    })
  end
  return nil,
    {
      plan = plan,
      prompts = 1,
      conversation = args.conversation == true,
      conflicts = args.except and 0 or 1,
      head = { moved = false },
      limits = {},
      planToken = args.except and 'token' or '',
    }
end

local plays = {
  change = function()
    server:event({ type = 'changes_changed', totals = totals, paths = { root .. '/a.txt' } })
  end,
  turn = function()
    server:event({ type = 'agent_start' })
    server:event({
      type = 'agent_end',
      stopReason = 'stop',
      changes = { files = 2, added = 4, removed = 3, limits = { 'outside' } },
    })
  end,
}

---@param name string
function _G.play(name)
  plays[name]()
  return 0
end

require('xcsh').setup({})
require('xcsh.rewind.tab').quiet = 0
vim.o.diffopt = 'internal,filler,closeoff' -- the default differs between versions
vim.o.ruler = false
vim.o.showcmd = false
vim.o.shortmess = vim.o.shortmess .. 'FI'
vim.o.termguicolors = vim.env.COLORTERM == 'truecolor'
