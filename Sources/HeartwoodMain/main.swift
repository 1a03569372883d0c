import HeartwoodTool

HeartwoodTool.main()
