std = 'luajit'
globals = { 'vim' }
max_line_length = 100
-- The generated tables hold whole sentences.
files['lua/xcsh/*_gen.lua'] = { max_line_length = false }
